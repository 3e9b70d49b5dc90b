-- Chats elsewhere, and the conversations they are bound to.

-- name: shape
-- A BridgeChat.
CREATE TEMP VIEW bridge_chats_shape AS
SELECT bridge, chat, conversation, created_us, rtrim(json_array(
    bridge, chat, kind, title, state, conversation, listener, cursor, planned, explained, paired_by, notice,
    created_us / 1e6, updated_us / 1e6
), ']') || ',' || agents || ']' AS shape FROM main.bridge_chats;

-- name: put
-- A chat, new or changed.
INSERT INTO bridge_chats (
    bridge, chat, kind, title, state, conversation, agents, listener, cursor, planned, explained, paired_by,
    notice, created_us, updated_us
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bridge, chat) DO UPDATE SET
    kind = excluded.kind, title = excluded.title, state = excluded.state, conversation = excluded.conversation,
    agents = excluded.agents, listener = excluded.listener, cursor = excluded.cursor,
    planned = excluded.planned, explained = excluded.explained, paired_by = excluded.paired_by, notice = excluded.notice,
    created_us = excluded.created_us, updated_us = excluded.updated_us;

-- name: drop
-- A chat is only dropped when it moves to another id.
DELETE FROM bridge_chats WHERE bridge = ? AND chat = ?;

-- name: by_key
-- By [[bridge, chat], …].
SELECT group_concat(p.shape, ',') FROM json_each(?1) w CROSS JOIN bridge_chats_shape p
ON p.bridge = w.value ->> 0 AND p.chat = w.value ->> 1;

-- name: by_conversation
-- Those of some of these, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, bridge, chat) FROM bridge_chats_shape
WHERE conversation IN (SELECT value FROM json_each(?1));

-- name: whole
-- All of them, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, bridge, chat) FROM bridge_chats_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place.
SELECT CAST(bridge || ' ' || chat AS BLOB), CAST(shape AS BLOB) FROM bridge_chats_shape;
