-- What goes out over bridges, piece by piece: intended, sent, or unconfirmed.

-- name: shape
-- A BridgePost.
CREATE TEMP VIEW bridge_posts_shape AS
SELECT id, bridge, chat, place, state, conversation, decision, external, created_us, rtrim(json_array(
    id, bridge, chat, conversation, seq, place, speaker, text, state, tries, due, external, reply_to, error,
    decision, created_us / 1e6, updated_us / 1e6
), ']') || ',' || buttons || ']' AS shape FROM main.bridge_posts;

-- name: put
-- A post, new or further along.
INSERT INTO bridge_posts (
    id, bridge, chat, conversation, seq, place, speaker, text, state, tries, due, external, reply_to, error,
    buttons, decision, created_us, updated_us
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    bridge = excluded.bridge, chat = excluded.chat, conversation = excluded.conversation, seq = excluded.seq,
    place = excluded.place, speaker = excluded.speaker, text = excluded.text, state = excluded.state,
    tries = excluded.tries, due = excluded.due, external = excluded.external, reply_to = excluded.reply_to,
    error = excluded.error, buttons = excluded.buttons, decision = excluded.decision,
    created_us = excluded.created_us, updated_us = excluded.updated_us;

-- name: drop
-- None is dropped but with its conversation.
DELETE FROM bridge_posts WHERE id = ?;

-- name: by_key
-- By [[id], …].
SELECT group_concat(shape, ',') FROM bridge_posts_shape
WHERE id IN (SELECT value ->> 0 FROM json_each(?1));

-- name: by_state
-- Those of some of these, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM bridge_posts_shape
WHERE state IN (SELECT value FROM json_each(?1));

-- name: by_conversation
-- Those of some of these, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM bridge_posts_shape
WHERE conversation IN (SELECT value FROM json_each(?1));

-- name: by_decision
-- Those of some of these, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM bridge_posts_shape
WHERE decision IN (SELECT value FROM json_each(?1));

-- name: by_external
-- Those of some of these, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM bridge_posts_shape
WHERE external IN (SELECT value FROM json_each(?1));

-- name: by_queue
-- Those queued for some of these, in the order in which they are to be sent.
SELECT group_concat(shape, ',' ORDER BY place, id) FROM bridge_posts_shape
WHERE state = 'queued' AND bridge || '/' || chat IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM bridge_posts_shape;
