-- Why nothing is published for an agent.

-- name: shape
-- TopicTrouble.
CREATE VIEW topic_troubles_shape AS
SELECT agent, json_build_array(agent, topic, kind, reason, at_us / 1e6::float8)::text AS shape
FROM topic_troubles;

-- name: put
-- A trouble, new or changed.
INSERT INTO topic_troubles (agent, topic, kind, reason, at_us)
VALUES ($1, $2, $3, $4, $5)
ON CONFLICT (agent) DO UPDATE SET
    topic = excluded.topic, kind = excluded.kind, reason = excluded.reason, at_us = excluded.at_us;

-- name: drop
-- The topic is in order again.
DELETE FROM topic_troubles WHERE agent = $1;

-- name: by_key
-- By [[agent], …].
SELECT string_agg(shape, ',') FROM topic_troubles_shape
WHERE agent IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- All there are.
SELECT string_agg(shape, ',' ORDER BY agent) FROM topic_troubles_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT agent::text, shape FROM topic_troubles_shape ORDER BY agent;
