-- Which agents may read or write which notes.

-- name: shape
-- A NotePermission.
CREATE VIEW note_permissions_shape AS
SELECT note, participant, at_us, json_build_array(note, participant, access, by, at_us / 1e6::float8)::text AS shape
FROM note_permissions;

-- name: put
-- A permission, new or changed.
INSERT INTO note_permissions (note, participant, access, by, at_us) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (note, participant) DO UPDATE SET
    access = excluded.access, by = excluded.by, at_us = excluded.at_us;

-- name: drop
-- A permission that was taken away, or whose note was deleted.
DELETE FROM note_permissions WHERE note = $1 AND participant = $2;

-- name: by_key
-- By [[note, participant], …].
SELECT string_agg(shape, ',') FROM json_array_elements($1::json) w JOIN note_permissions_shape p
ON p.note = w.value ->> 0 AND p.participant = w.value ->> 1;

-- name: by_note
-- All of some notes.
SELECT string_agg(shape, ',' ORDER BY note, participant) FROM note_permissions_shape
WHERE note = ANY($1::text[]);

-- name: by_participant
-- All of some participants.
SELECT string_agg(shape, ',' ORDER BY note, participant) FROM note_permissions_shape
WHERE participant = ANY($1::text[]);

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT (note || ' ' || participant), shape FROM note_permissions_shape ORDER BY note, participant;
