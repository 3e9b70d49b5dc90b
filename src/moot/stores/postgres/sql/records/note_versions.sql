-- Every version of every note.

-- name: shape
-- A NoteVersion.
CREATE VIEW note_versions_shape AS
SELECT note, version, json_build_array(note, version, text, by, at_us / 1e6::float8, hash)::text AS shape FROM note_versions;

-- name: put
-- A version. None is ever written again.
INSERT INTO note_versions (note, version, text, by, at_us, hash) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (note, version) DO UPDATE SET
    text = excluded.text, by = excluded.by, at_us = excluded.at_us, hash = excluded.hash;

-- name: drop
-- A version of a note that was deleted.
DELETE FROM note_versions WHERE note = $1 AND version = $2;

-- name: by_key
-- By [[note, version], …].
SELECT string_agg(shape, ',') FROM json_array_elements($1::json) w JOIN note_versions_shape v
ON v.note = w.value ->> 0 AND v.version = (w.value ->> 1)::bigint;

-- name: every
-- Row by row, each with its place, in the order of their chains.
SELECT (note || ' version ' || version), shape FROM note_versions_shape
ORDER BY note, version;
