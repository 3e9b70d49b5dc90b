-- Where people have put somebody on the map.

-- name: shape
-- A Position.
CREATE TEMP VIEW positions_shape AS
SELECT participant, at_us, json_array(participant, x, y, by, at_us / 1e6) AS shape FROM main.positions;

-- name: put
-- A position, new or changed.
INSERT INTO positions (participant, x, y, by, at_us) VALUES (?, ?, ?, ?, ?)
ON CONFLICT (participant) DO UPDATE SET
    x = excluded.x, y = excluded.y, by = excluded.by, at_us = excluded.at_us;

-- name: drop
-- Nobody has put it anywhere any more.
DELETE FROM positions WHERE participant = ?;

-- name: by_key
-- By [[participant], …].
SELECT group_concat(shape, ',') FROM positions_shape WHERE participant IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- Every position.
SELECT group_concat(shape, ',' ORDER BY participant) FROM positions_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(participant AS BLOB), CAST(shape AS BLOB) FROM positions_shape ORDER BY participant;
