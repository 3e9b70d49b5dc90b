-- What agents ask people to decide.

-- name: shape
-- A PersonsDecision.
CREATE VIEW decisions_shape AS
SELECT id, "by", "to", created_us, rtrim(json_build_array(
    id, "by", "to", question, conversation, seq, state, answer, answer_seq, until, created_us / 1e6::float8, updated_us / 1e6::float8
)::text, ']') || ',' || choices || ']' AS shape FROM decisions;

-- name: put
-- A decision, new or answered.
INSERT INTO decisions (
    id, "by", "to", question, choices, conversation, seq, state, answer, answer_seq, until, created_us, updated_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (id) DO UPDATE SET
    "by" = excluded."by", "to" = excluded."to", question = excluded.question, choices = excluded.choices,
    conversation = excluded.conversation, seq = excluded.seq, state = excluded.state, answer = excluded.answer,
    answer_seq = excluded.answer_seq, until = excluded.until, created_us = excluded.created_us,
    updated_us = excluded.updated_us;

-- name: drop
-- None is dropped but with its conversation.
DELETE FROM decisions WHERE id = $1;

-- name: by_key
-- By [[id], …].
SELECT string_agg(shape, ',') FROM decisions_shape WHERE id IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: by_to
-- Those that some people are asked for, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM decisions_shape WHERE "to" = ANY($1::text[]);

-- name: by_by
-- Those that some agents ask for, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM decisions_shape WHERE "by" = ANY($1::text[]);

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT id, shape FROM decisions_shape ORDER BY id;
