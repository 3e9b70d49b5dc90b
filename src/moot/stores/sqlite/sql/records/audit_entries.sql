-- Entries of the audit.

-- name: shape
-- An AuditEntry.
CREATE TEMP VIEW audit_entries_shape AS
SELECT chain, place, by, on_behalf_of, act, subject, detail, at_us, last_us, rtrim(json_array(
    chain, place, at_us / 1e6, by, on_behalf_of, door, act, subject, digest, count, last_us / 1e6, hash
), ']') || ',' || detail || ']' AS shape FROM main.audit_entries;

-- name: put
-- An entry at a place that is free. Only a refusal is written again, when it or one before it is counted up; whatever
-- else stands there is kept, and the writing is refused: `by` must not be NULL.
INSERT INTO audit_entries (
    chain, place, at_us, by, on_behalf_of, door, act, subject, detail, digest, count, last_us, hash
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (chain, place) DO UPDATE SET
    by = iif(act = 'refused' AND excluded.count >= count AND excluded.detail = detail, by, NULL),
    count = excluded.count, last_us = excluded.last_us, hash = excluded.hash;

-- name: drop
-- None is dropped.
DELETE FROM audit_entries WHERE chain = ? AND place = ?;

-- name: by_key
-- By [[chain, place], …].
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN audit_entries_shape e
ON e.chain = w.value ->> 0 AND e.place = w.value ->> 1;

-- name: by_subject
-- Everything that was done to some things, oldest first.
SELECT group_concat(shape, ',' ORDER BY at_us, chain, place) FROM audit_entries_shape
WHERE subject IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place, chain after chain.
SELECT CAST(chain || ' #' || place AS BLOB), CAST(shape AS BLOB) FROM audit_entries_shape ORDER BY chain, place;
