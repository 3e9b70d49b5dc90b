-- What goes out over bridges, piece by piece: intended, sent, or unconfirmed.

-- name: shape
-- A BridgePost.
CREATE VIEW bridge_posts_shape AS
SELECT id, bridge, chat, place, state, conversation, decision, external, created_us, rtrim(json_build_array(
    id, bridge, chat, conversation, seq, place, speaker, text, state, tries, due, external, reply_to, error,
    decision, created_us / 1e6::float8, updated_us / 1e6::float8
)::text, ']') || ',' || buttons || ']' AS shape FROM bridge_posts;

-- name: put
-- A post, new or further along.
INSERT INTO bridge_posts (
    id, bridge, chat, conversation, seq, place, speaker, text, state, tries, due, external, reply_to, error,
    buttons, decision, created_us, updated_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
ON CONFLICT (id) DO UPDATE SET
    bridge = excluded.bridge, chat = excluded.chat, conversation = excluded.conversation, seq = excluded.seq,
    place = excluded.place, speaker = excluded.speaker, text = excluded.text, state = excluded.state,
    tries = excluded.tries, due = excluded.due, external = excluded.external, reply_to = excluded.reply_to,
    error = excluded.error, buttons = excluded.buttons, decision = excluded.decision,
    created_us = excluded.created_us, updated_us = excluded.updated_us;

-- name: drop
-- None is dropped but with its conversation.
DELETE FROM bridge_posts WHERE id = $1;

-- name: by_key
-- By [[id], …].
SELECT string_agg(shape, ',') FROM bridge_posts_shape
WHERE id IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: by_state
-- Those of some of these, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM bridge_posts_shape
WHERE state = ANY($1::text[]);

-- name: by_conversation
-- Those of some of these, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM bridge_posts_shape
WHERE conversation = ANY($1::text[]);

-- name: by_decision
-- Those of some of these, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM bridge_posts_shape
WHERE decision = ANY($1::text[]);

-- name: by_external
-- Those of some of these, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM bridge_posts_shape
WHERE external = ANY($1::text[]);

-- name: by_queue
-- Those queued for some of these, in the order in which they are to be sent.
SELECT string_agg(shape, ',' ORDER BY place, id) FROM bridge_posts_shape
WHERE state = 'queued' AND bridge || '/' || chat = ANY($1::text[]);

-- name: every
-- Row by row, each with its place.
SELECT id, shape FROM bridge_posts_shape;
