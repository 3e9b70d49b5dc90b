-- How far supervisors have been shown the log.

-- name: shape
-- WatchPosition.
CREATE VIEW watch_positions_shape AS
SELECT agent, json_build_array(agent, event, at_us / 1e6::float8)::text AS shape
FROM watch_positions;

-- name: put
-- A position, new or moved.
INSERT INTO watch_positions (agent, event, at_us)
VALUES ($1, $2, $3)
ON CONFLICT (agent) DO UPDATE SET
    event = excluded.event, at_us = excluded.at_us;

-- name: drop
-- Nobody goes on from there.
DELETE FROM watch_positions WHERE agent = $1;

-- name: by_key
-- By [[agent], …].
SELECT string_agg(shape, ',') FROM watch_positions_shape
WHERE agent IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- All there are.
SELECT string_agg(shape, ',' ORDER BY agent) FROM watch_positions_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT agent::text, shape FROM watch_positions_shape ORDER BY agent;
