-- Which agents may read or write which notes.

-- name: shape
-- A NotePermission.
CREATE TEMP VIEW note_permissions_shape AS
SELECT note, participant, at_us, json_array(note, participant, access, by, at_us / 1e6) AS shape
FROM main.note_permissions;

-- name: put
-- A permission, new or changed.
INSERT INTO note_permissions (note, participant, access, by, at_us) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (note, participant) DO UPDATE SET
    access = excluded.access, by = excluded.by, at_us = excluded.at_us;

-- name: drop
-- A permission that was taken away, or whose note was deleted.
DELETE FROM note_permissions WHERE note = ? AND participant = ?;

-- name: by_key
-- By [[note, participant], …].
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN note_permissions_shape p
ON p.note = w.value ->> 0 AND p.participant = w.value ->> 1;

-- name: by_note
-- All of some notes.
SELECT group_concat(shape, ',' ORDER BY note, participant) FROM note_permissions_shape
WHERE note IN (SELECT value FROM json_each(?1));

-- name: by_participant
-- All of some participants.
SELECT group_concat(shape, ',' ORDER BY note, participant) FROM note_permissions_shape
WHERE participant IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(note || ' ' || participant AS BLOB), CAST(shape AS BLOB) FROM note_permissions_shape ORDER BY note, participant;
