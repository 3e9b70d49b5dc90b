-- What agents ask people to decide.

-- name: shape
-- A PersonsDecision.
CREATE TEMP VIEW decisions_shape AS
SELECT id, "by", "to", created_us, rtrim(json_array(
    id, "by", "to", question, conversation, seq, state, answer, answer_seq, until, created_us / 1e6, updated_us / 1e6
), ']') || ',' || choices || ']' AS shape FROM main.decisions;

-- name: put
-- A decision, new or answered.
INSERT INTO decisions (
    id, "by", "to", question, choices, conversation, seq, state, answer, answer_seq, until, created_us, updated_us
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    "by" = excluded."by", "to" = excluded."to", question = excluded.question, choices = excluded.choices,
    conversation = excluded.conversation, seq = excluded.seq, state = excluded.state, answer = excluded.answer,
    answer_seq = excluded.answer_seq, until = excluded.until, created_us = excluded.created_us,
    updated_us = excluded.updated_us;

-- name: drop
-- None is dropped but with its conversation.
DELETE FROM decisions WHERE id = ?;

-- name: by_key
-- By [[id], …].
SELECT group_concat(shape, ',') FROM decisions_shape WHERE id IN (SELECT value ->> 0 FROM json_each(?1));

-- name: by_to
-- Those that some people are asked for, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM decisions_shape WHERE "to" IN (SELECT value FROM json_each(?1));

-- name: by_by
-- Those that some agents ask for, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM decisions_shape WHERE "by" IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM decisions_shape ORDER BY id;
