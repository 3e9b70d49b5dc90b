-- Every version of every note.

-- name: shape
-- A NoteVersion.
CREATE TEMP VIEW note_versions_shape AS
SELECT note, version, json_array(note, version, text, by, at_us / 1e6, hash) AS shape FROM main.note_versions;

-- name: put
-- A version. None is ever written again.
INSERT INTO note_versions (note, version, text, by, at_us, hash) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (note, version) DO UPDATE SET
    text = excluded.text, by = excluded.by, at_us = excluded.at_us, hash = excluded.hash;

-- name: drop
-- A version of a note that was deleted.
DELETE FROM note_versions WHERE note = ? AND version = ?;

-- name: by_key
-- By [[note, version], …].
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN note_versions_shape v
ON v.note = w.value ->> 0 AND v.version = w.value ->> 1;

-- name: every
-- Row by row, each with its place, in the order of their chains.
SELECT CAST(note || ' version ' || version AS BLOB), CAST(shape AS BLOB) FROM note_versions_shape
ORDER BY note, version;
