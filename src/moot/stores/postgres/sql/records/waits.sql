-- Agents that wait for an answer.

-- name: shape
-- A Wait.
CREATE VIEW waits_shape AS
SELECT conversation, seq, json_build_array(conversation, seq, asker, target, until, host, answer)::text AS shape FROM waits;

-- name: put
-- Somebody waits.
INSERT INTO waits (conversation, seq, asker, target, until, host, answer) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (conversation, seq) DO UPDATE SET
    asker = excluded.asker, target = excluded.target, until = excluded.until, host = excluded.host,
    answer = excluded.answer;

-- name: drop
-- Nobody waits for this any more.
DELETE FROM waits WHERE conversation = $1 AND seq = $2;

-- name: by_key
-- By [[conversation, seq], …].
SELECT string_agg(shape, ',') FROM json_array_elements($1::json) w JOIN waits_shape s
ON s.conversation = w.value ->> 0 AND s.seq = (w.value ->> 1)::bigint;

-- name: by_conversation
-- Those whose question was asked in some conversations.
SELECT string_agg(shape, ',') FROM waits_shape WHERE conversation = ANY($1::text[]);

-- name: whole
-- All of them.
SELECT string_agg(shape, ',' ORDER BY conversation, seq) FROM waits_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT (conversation || ':' || seq), shape FROM waits_shape ORDER BY conversation, seq;
