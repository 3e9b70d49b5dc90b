-- Bookmarks: how far clients have read.

-- name: shape
-- A Bookmark.
CREATE VIEW bookmarks_shape AS
SELECT participant, client, conversation, json_build_array(participant, client, conversation, seq, frames, used_at)::text AS shape
FROM bookmarks;

-- name: put
-- A bookmark, new or moved.
INSERT INTO bookmarks (participant, client, conversation, seq, frames, used_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (participant, client, conversation) DO UPDATE SET
    seq = excluded.seq, frames = excluded.frames, used_at = excluded.used_at;

-- name: drop
-- A bookmark that made room for a newer one.
DELETE FROM bookmarks WHERE participant = $1 AND client = $2 AND conversation = $3;

-- name: by_key
-- By [[participant, client, conversation], …].
SELECT string_agg(shape, ',') FROM json_array_elements($1::json) w JOIN bookmarks_shape b
ON b.participant = w.value ->> 0 AND b.client = w.value ->> 1 AND b.conversation = w.value ->> 2;

-- name: by_participant
-- All of some participants.
SELECT string_agg(shape, ',') FROM bookmarks_shape WHERE participant = ANY($1::text[]);

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT (participant || ' ' || client || ' ' || conversation), shape FROM bookmarks_shape ORDER BY participant, client, conversation;
