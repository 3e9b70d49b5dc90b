-- Where the records of an agent go.

-- name: shape
-- AgentTopic.
CREATE TEMP VIEW topics_shape AS
SELECT agent, json_array(agent, name, epoch, identity, partitions, at_us / 1e6) AS shape
FROM main.topics;

-- name: put
-- A topic, new or changed.
INSERT INTO topics (agent, name, epoch, identity, partitions, at_us)
VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (agent) DO UPDATE SET
    name = excluded.name, epoch = excluded.epoch, identity = excluded.identity, partitions = excluded.partitions, at_us = excluded.at_us;

-- name: drop
-- It has none.
DELETE FROM topics WHERE agent = ?;

-- name: by_key
-- By [[agent], …].
SELECT group_concat(shape, ',') FROM topics_shape
WHERE agent IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All there are.
SELECT group_concat(shape, ',' ORDER BY agent) FROM topics_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(agent AS BLOB), CAST(shape AS BLOB) FROM topics_shape ORDER BY agent;
