-- What is still to be told to a log outside.

-- name: shape
-- OutboxRow.
CREATE TEMP VIEW outbox_shape AS
SELECT event, topic, call, json_array(event, topic, call, conversation, action, by, at_us / 1e6, seq, correlation, tool) AS shape
FROM main.outbox;

-- name: put
-- A row of the outbox, new or changed.
INSERT INTO outbox (event, topic, call, conversation, action, by, at_us, seq, correlation, tool)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (event, topic, call) DO UPDATE SET
    conversation = excluded.conversation, action = excluded.action, by = excluded.by, at_us = excluded.at_us, seq = excluded.seq, correlation = excluded.correlation, tool = excluded.tool;

-- name: drop
-- It is published.
DELETE FROM outbox WHERE event = ? AND topic = ? AND call = ?;

-- name: by_key
-- By [[event, topic, call], …].
SELECT group_concat(shape, ',') FROM outbox_shape
WHERE (event, topic, call) IN (SELECT value ->> 0, value ->> 1, value ->> 2 FROM json_each(?1));

-- name: oldest
-- The first ?1 to be published, without those of the topics ?2.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM outbox_shape WHERE topic NOT IN (SELECT value FROM json_each(?2)) ORDER BY event, topic, call LIMIT ?1
);

-- name: depth
-- How many there are, counted no further than ?1, and since when.
SELECT count(*), min(at_us) FROM (SELECT at_us FROM outbox ORDER BY event, topic, call LIMIT ?1);

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(event || ' ' || topic || ' ' || call AS BLOB), CAST(shape AS BLOB) FROM outbox_shape ORDER BY event, topic, call;
