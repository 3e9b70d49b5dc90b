-- Tasks.

-- name: shape
-- A Task.
CREATE VIEW tasks_shape AS
SELECT id, "by", "to", state, conversation, asked_in, link, created_us, json_build_array(
    id, "by", "to", task, state, result, note, conversation, channel, asked_in, link, root, hop, deadline, kept_by,
    created_us / 1e6::float8, updated_us / 1e6::float8, chain, chain_length
)::text AS shape FROM tasks;

-- name: put
-- A task, new or moved on.
INSERT INTO tasks (
    id, "by", "to", task, state, result, note, conversation, channel, asked_in, link, root, hop, deadline, kept_by,
    created_us, updated_us, chain, chain_length
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19)
ON CONFLICT (id) DO UPDATE SET
    "by" = excluded."by", "to" = excluded."to", task = excluded.task, state = excluded.state, result = excluded.result,
    note = excluded.note, conversation = excluded.conversation, channel = excluded.channel,
    asked_in = excluded.asked_in, link = excluded.link, root = excluded.root, hop = excluded.hop,
    deadline = excluded.deadline, kept_by = excluded.kept_by, created_us = excluded.created_us,
    updated_us = excluded.updated_us, chain = excluded.chain, chain_length = excluded.chain_length;

-- name: drop
-- None is dropped: what was delegated stays on record.
DELETE FROM tasks WHERE id = $1;

-- name: by_key
-- By [[id], …].
SELECT string_agg(shape, ',') FROM tasks_shape WHERE id IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: by_beginning
-- Those whose id begins with one of some texts; a few of them.
SELECT string_agg(shape, ',') FROM (
    SELECT t.shape FROM unnest($1::text[]) b(value) JOIN tasks_shape t ON t.id >= b.value AND t.id < b.value || '~'
    ORDER BY t.id LIMIT 20
) found;

-- name: by_conversation
-- Those that are worked on in some conversations.
SELECT string_agg(shape, ',') FROM tasks_shape WHERE conversation = ANY($1::text[]);

-- name: by_open_over
-- Those that came down some links and are not finished.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM tasks_shape
WHERE state IN ('open', 'working') AND link <> '' AND link = ANY($1::text[]);

-- name: by_open_in
-- Those whose ends are awaited in some conversations.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM tasks_shape
WHERE state IN ('open', 'working') AND asked_in <> '' AND asked_in = ANY($1::text[]);

-- name: by_open_to
-- Those that somebody was given and has not finished.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM tasks_shape
WHERE state IN ('open', 'working') AND "to" = ANY($1::text[]);

-- name: by_open_by
-- Those that somebody delegated and that are not finished.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM tasks_shape
WHERE state IN ('open', 'working') AND "by" = ANY($1::text[]);

-- name: by_by
-- Those that somebody delegated, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM tasks_shape WHERE "by" = ANY($1::text[]);

-- name: by_to
-- Those that somebody was given, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM tasks_shape WHERE "to" = ANY($1::text[]);

-- name: by_state
-- Those in some states, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM tasks_shape WHERE state = ANY($1::text[]);

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT id, shape FROM tasks_shape ORDER BY id;
