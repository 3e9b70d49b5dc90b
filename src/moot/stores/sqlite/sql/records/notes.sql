-- Shared notes as they stand.

-- name: shape
-- A Note.
CREATE TEMP VIEW notes_shape AS
SELECT name, created_us, json_array(
    name, text, version, hash, created_by, created_us / 1e6, updated_by, updated_us / 1e6
) AS shape FROM main.notes;

-- name: put
-- A note, new or written again.
INSERT INTO notes (name, text, version, hash, created_by, created_us, updated_by, updated_us)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    text = excluded.text, version = excluded.version, hash = excluded.hash, created_by = excluded.created_by,
    created_us = excluded.created_us, updated_by = excluded.updated_by, updated_us = excluded.updated_us;

-- name: drop
-- A note that was deleted.
DELETE FROM notes WHERE name = ?;

-- name: by_key
-- By [[name], …].
SELECT group_concat(shape, ',') FROM notes_shape WHERE name IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- Every note, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, name) FROM notes_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(name AS BLOB), CAST(shape AS BLOB) FROM notes_shape ORDER BY name;
