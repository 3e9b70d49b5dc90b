-- Where the records of an agent go.

-- name: shape
-- AgentTopic.
CREATE VIEW topics_shape AS
SELECT agent, json_build_array(agent, name, epoch, identity, partitions, at_us / 1e6::float8)::text AS shape
FROM topics;

-- name: put
-- A topic, new or changed.
INSERT INTO topics (agent, name, epoch, identity, partitions, at_us)
VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (agent) DO UPDATE SET
    name = excluded.name, epoch = excluded.epoch, identity = excluded.identity, partitions = excluded.partitions, at_us = excluded.at_us;

-- name: drop
-- It has none.
DELETE FROM topics WHERE agent = $1;

-- name: by_key
-- By [[agent], …].
SELECT string_agg(shape, ',') FROM topics_shape
WHERE agent IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- All there are.
SELECT string_agg(shape, ',' ORDER BY agent) FROM topics_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT agent::text, shape FROM topics_shape ORDER BY agent;
