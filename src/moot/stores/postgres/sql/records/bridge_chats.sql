-- Chats elsewhere, and the conversations they are bound to.

-- name: shape
-- A BridgeChat.
CREATE VIEW bridge_chats_shape AS
SELECT bridge, chat, conversation, created_us, rtrim(json_build_array(
    bridge, chat, kind, title, state, conversation, listener, cursor, planned, explained, paired_by, notice,
    created_us / 1e6::float8, updated_us / 1e6::float8
)::text, ']') || ',' || agents || ']' AS shape FROM bridge_chats;

-- name: put
-- A chat, new or changed.
INSERT INTO bridge_chats (
    bridge, chat, kind, title, state, conversation, agents, listener, cursor, planned, explained, paired_by,
    notice, created_us, updated_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15)
ON CONFLICT (bridge, chat) DO UPDATE SET
    kind = excluded.kind, title = excluded.title, state = excluded.state, conversation = excluded.conversation,
    agents = excluded.agents, listener = excluded.listener, cursor = excluded.cursor,
    planned = excluded.planned, explained = excluded.explained, paired_by = excluded.paired_by, notice = excluded.notice,
    created_us = excluded.created_us, updated_us = excluded.updated_us;

-- name: drop
-- A chat is only dropped when it moves to another id.
DELETE FROM bridge_chats WHERE bridge = $1 AND chat = $2;

-- name: by_key
-- By [[bridge, chat], …].
SELECT string_agg(p.shape, ',') FROM json_array_elements($1::json) w JOIN bridge_chats_shape p
ON p.bridge = w.value ->> 0 AND p.chat = w.value ->> 1;

-- name: by_conversation
-- Those of some of these, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, bridge, chat) FROM bridge_chats_shape
WHERE conversation = ANY($1::text[]);

-- name: whole
-- All of them, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, bridge, chat) FROM bridge_chats_shape;

-- name: every
-- Row by row, each with its place.
SELECT bridge || ' ' || chat, shape FROM bridge_chats_shape;
