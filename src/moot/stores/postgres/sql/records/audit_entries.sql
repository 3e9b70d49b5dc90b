-- Entries of the audit.

-- name: shape
-- An AuditEntry.
CREATE VIEW audit_entries_shape AS
SELECT chain, place, by, on_behalf_of, act, subject, detail, at_us, last_us, rtrim(json_build_array(
    chain, place, at_us / 1e6::float8, by, on_behalf_of, door, act, subject, digest, count, last_us / 1e6::float8, hash
)::text, ']') || ',' || detail || ']' AS shape FROM audit_entries;

-- name: put
-- An entry at a place that is free. Only a refusal is written again, when it or one before it is counted up; whatever
-- else stands there is kept, and the writing is refused: `by` must not be NULL.
INSERT INTO audit_entries (
    chain, place, at_us, by, on_behalf_of, door, act, subject, detail, digest, count, last_us, hash
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (chain, place) DO UPDATE SET
    by = CASE WHEN audit_entries.act = 'refused' AND excluded.count >= audit_entries.count
        AND excluded.detail = audit_entries.detail THEN audit_entries.by END,
    count = excluded.count, last_us = excluded.last_us, hash = excluded.hash;

-- name: drop
-- None is dropped.
DELETE FROM audit_entries WHERE chain = $1 AND place = $2;

-- name: by_key
-- By [[chain, place], …].
SELECT string_agg(shape, ',') FROM json_array_elements($1::json) w JOIN audit_entries_shape e
ON e.chain = w.value ->> 0 AND e.place = (w.value ->> 1)::bigint;

-- name: by_subject
-- Everything that was done to some things, oldest first.
SELECT string_agg(shape, ',' ORDER BY at_us, chain, place) FROM audit_entries_shape
WHERE subject = ANY($1::text[]);

-- name: every
-- Row by row, each with its place, chain after chain.
SELECT (chain || ' #' || place), shape FROM audit_entries_shape ORDER BY chain, place;
