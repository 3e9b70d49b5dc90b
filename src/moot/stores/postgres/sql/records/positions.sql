-- Where people have put somebody on the map.

-- name: shape
-- A Position.
CREATE VIEW positions_shape AS
SELECT participant, at_us, json_build_array(participant, x, y, by, at_us / 1e6::float8)::text AS shape FROM positions;

-- name: put
-- A position, new or changed.
INSERT INTO positions (participant, x, y, by, at_us) VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (participant) DO UPDATE SET
    x = excluded.x, y = excluded.y, by = excluded.by, at_us = excluded.at_us;

-- name: drop
-- Nobody has put it anywhere any more.
DELETE FROM positions WHERE participant = $1;

-- name: by_key
-- By [[participant], …].
SELECT string_agg(shape, ',') FROM positions_shape WHERE participant IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- Every position.
SELECT string_agg(shape, ',' ORDER BY participant) FROM positions_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT participant, shape FROM positions_shape ORDER BY participant;
