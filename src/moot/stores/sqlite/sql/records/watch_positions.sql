-- How far supervisors have been shown the log.

-- name: shape
-- WatchPosition.
CREATE TEMP VIEW watch_positions_shape AS
SELECT agent, json_array(agent, event, at_us / 1e6) AS shape
FROM main.watch_positions;

-- name: put
-- A position, new or moved.
INSERT INTO watch_positions (agent, event, at_us)
VALUES (?, ?, ?)
ON CONFLICT (agent) DO UPDATE SET
    event = excluded.event, at_us = excluded.at_us;

-- name: drop
-- Nobody goes on from there.
DELETE FROM watch_positions WHERE agent = ?;

-- name: by_key
-- By [[agent], …].
SELECT group_concat(shape, ',') FROM watch_positions_shape
WHERE agent IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All there are.
SELECT group_concat(shape, ',' ORDER BY agent) FROM watch_positions_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(agent AS BLOB), CAST(shape AS BLOB) FROM watch_positions_shape ORDER BY agent;
