-- Shared notes as they stand.

-- name: shape
-- A Note.
CREATE VIEW notes_shape AS
SELECT name, created_us, json_build_array(
    name, text, version, hash, created_by, created_us / 1e6::float8, updated_by, updated_us / 1e6::float8
)::text AS shape FROM notes;

-- name: put
-- A note, new or written again.
INSERT INTO notes (name, text, version, hash, created_by, created_us, updated_by, updated_us)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (name) DO UPDATE SET
    text = excluded.text, version = excluded.version, hash = excluded.hash, created_by = excluded.created_by,
    created_us = excluded.created_us, updated_by = excluded.updated_by, updated_us = excluded.updated_us;

-- name: drop
-- A note that was deleted.
DELETE FROM notes WHERE name = $1;

-- name: by_key
-- By [[name], …].
SELECT string_agg(shape, ',') FROM notes_shape WHERE name IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- Every note, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, name) FROM notes_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT name, shape FROM notes_shape ORDER BY name;
