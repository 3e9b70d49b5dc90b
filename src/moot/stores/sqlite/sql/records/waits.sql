-- Agents that wait for an answer.

-- name: shape
-- A Wait.
CREATE TEMP VIEW waits_shape AS
SELECT conversation, seq, json_array(conversation, seq, asker, target, until, host, answer) AS shape FROM main.waits;

-- name: put
-- Somebody waits.
INSERT INTO waits (conversation, seq, asker, target, until, host, answer) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (conversation, seq) DO UPDATE SET
    asker = excluded.asker, target = excluded.target, until = excluded.until, host = excluded.host,
    answer = excluded.answer;

-- name: drop
-- Nobody waits for this any more.
DELETE FROM waits WHERE conversation = ? AND seq = ?;

-- name: by_key
-- By [[conversation, seq], …].
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN waits_shape s
ON s.conversation = w.value ->> 0 AND s.seq = w.value ->> 1;

-- name: by_conversation
-- Those whose question was asked in some conversations.
SELECT group_concat(shape, ',') FROM waits_shape WHERE conversation IN (SELECT value FROM json_each(?1));

-- name: whole
-- All of them.
SELECT group_concat(shape, ',' ORDER BY conversation, seq) FROM waits_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(conversation || ':' || seq AS BLOB), CAST(shape AS BLOB) FROM waits_shape ORDER BY conversation, seq;
