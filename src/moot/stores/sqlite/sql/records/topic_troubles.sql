-- Why nothing is published for an agent.

-- name: shape
-- TopicTrouble.
CREATE TEMP VIEW topic_troubles_shape AS
SELECT agent, json_array(agent, topic, kind, reason, at_us / 1e6) AS shape
FROM main.topic_troubles;

-- name: put
-- A trouble, new or changed.
INSERT INTO topic_troubles (agent, topic, kind, reason, at_us)
VALUES (?, ?, ?, ?, ?)
ON CONFLICT (agent) DO UPDATE SET
    topic = excluded.topic, kind = excluded.kind, reason = excluded.reason, at_us = excluded.at_us;

-- name: drop
-- The topic is in order again.
DELETE FROM topic_troubles WHERE agent = ?;

-- name: by_key
-- By [[agent], …].
SELECT group_concat(shape, ',') FROM topic_troubles_shape
WHERE agent IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All there are.
SELECT group_concat(shape, ',' ORDER BY agent) FROM topic_troubles_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(agent AS BLOB), CAST(shape AS BLOB) FROM topic_troubles_shape ORDER BY agent;
