-- What is still to be told to a log outside.

-- name: shape
-- OutboxRow.
CREATE VIEW outbox_shape AS
SELECT event, topic, call, json_build_array(event, topic, call, conversation, action, by, at_us / 1e6::float8, seq, correlation, tool)::text AS shape
FROM outbox;

-- name: put
-- A row of the outbox, new or changed.
INSERT INTO outbox (event, topic, call, conversation, action, by, at_us, seq, correlation, tool)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (event, topic, call) DO UPDATE SET
    conversation = excluded.conversation, action = excluded.action, by = excluded.by, at_us = excluded.at_us, seq = excluded.seq, correlation = excluded.correlation, tool = excluded.tool;

-- name: drop
-- It is published.
DELETE FROM outbox WHERE event = $1 AND topic = $2 AND call = $3;

-- name: by_key
-- By [[event, topic, call], …].
SELECT string_agg(shape, ',') FROM outbox_shape
WHERE (event, topic, call) IN (SELECT (w.value ->> 0)::bigint, w.value ->> 1, w.value ->> 2 FROM json_array_elements($1::json) w);

-- name: oldest
-- The first $1 to be published, without those of the topics $2.
SELECT string_agg(shape, ',') FROM (
    SELECT shape FROM outbox_shape WHERE topic <> ALL($2::text[]) ORDER BY event, topic, call LIMIT $1
) found;

-- name: depth
-- How many there are, counted no further than $1, and since when.
SELECT count(*) AS rows, min(at_us) AS oldest FROM (SELECT at_us FROM outbox ORDER BY event, topic, call LIMIT $1) found;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT event || ' ' || topic || ' ' || call, shape FROM outbox_shape ORDER BY event, topic, call;
