-- Tasks.

-- name: shape
-- A Task.
CREATE TEMP VIEW tasks_shape AS
SELECT id, "by", "to", state, conversation, asked_in, link, created_us, json_array(
    id, "by", "to", task, state, result, note, conversation, channel, asked_in, link, root, hop, deadline, kept_by,
    created_us / 1e6, updated_us / 1e6, chain, chain_length
) AS shape FROM main.tasks;

-- name: put
-- A task, new or moved on.
INSERT INTO tasks (
    id, "by", "to", task, state, result, note, conversation, channel, asked_in, link, root, hop, deadline, kept_by,
    created_us, updated_us, chain, chain_length
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    "by" = excluded."by", "to" = excluded."to", task = excluded.task, state = excluded.state, result = excluded.result,
    note = excluded.note, conversation = excluded.conversation, channel = excluded.channel,
    asked_in = excluded.asked_in, link = excluded.link, root = excluded.root, hop = excluded.hop,
    deadline = excluded.deadline, kept_by = excluded.kept_by, created_us = excluded.created_us,
    updated_us = excluded.updated_us, chain = excluded.chain, chain_length = excluded.chain_length;

-- name: drop
-- None is dropped: what was delegated stays on record.
DELETE FROM tasks WHERE id = ?;

-- name: by_key
-- By [[id], …].
SELECT group_concat(shape, ',') FROM tasks_shape WHERE id IN (SELECT value ->> 0 FROM json_each(?1));

-- name: by_beginning
-- Those whose id begins with one of some texts; a few of them.
SELECT group_concat(shape, ',') FROM (
    SELECT t.shape FROM json_each(?1) b JOIN tasks_shape t ON t.id >= b.value AND t.id < b.value || '~'
    ORDER BY t.id LIMIT 20
);

-- name: by_conversation
-- Those that are worked on in some conversations.
SELECT group_concat(shape, ',') FROM tasks_shape WHERE conversation IN (SELECT value FROM json_each(?1));

-- name: by_open_over
-- Those that came down some links and are not finished. (With +, what one agent or link has is gone through, not what
-- everybody has not finished.)
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM tasks_shape
WHERE +state IN ('open', 'working') AND link <> '' AND link IN (SELECT value FROM json_each(?1));

-- name: by_open_in
-- Those whose ends are awaited in some conversations.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM tasks_shape
WHERE +state IN ('open', 'working') AND asked_in <> '' AND asked_in IN (SELECT value FROM json_each(?1));

-- name: by_open_to
-- Those that somebody was given and has not finished.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM tasks_shape
WHERE +state IN ('open', 'working') AND "to" IN (SELECT value FROM json_each(?1));

-- name: by_open_by
-- Those that somebody delegated and that are not finished.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM tasks_shape
WHERE +state IN ('open', 'working') AND "by" IN (SELECT value FROM json_each(?1));

-- name: by_by
-- Those that somebody delegated, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM tasks_shape WHERE "by" IN (SELECT value FROM json_each(?1));

-- name: by_to
-- Those that somebody was given, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM tasks_shape WHERE "to" IN (SELECT value FROM json_each(?1));

-- name: by_state
-- Those in some states, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM tasks_shape WHERE state IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM tasks_shape ORDER BY id;
