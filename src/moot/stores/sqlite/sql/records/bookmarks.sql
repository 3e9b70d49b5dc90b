-- Bookmarks: how far clients have read.

-- name: shape
-- A Bookmark.
CREATE TEMP VIEW bookmarks_shape AS
SELECT participant, client, conversation, json_array(participant, client, conversation, seq, frames, used_at) AS shape
FROM main.bookmarks;

-- name: put
-- A bookmark, new or moved.
INSERT INTO bookmarks (participant, client, conversation, seq, frames, used_at) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (participant, client, conversation) DO UPDATE SET
    seq = excluded.seq, frames = excluded.frames, used_at = excluded.used_at;

-- name: drop
-- A bookmark that made room for a newer one.
DELETE FROM bookmarks WHERE participant = ? AND client = ? AND conversation = ?;

-- name: by_key
-- By [[participant, client, conversation], …].
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN bookmarks_shape b
ON b.participant = w.value ->> 0 AND b.client = w.value ->> 1 AND b.conversation = w.value ->> 2;

-- name: by_participant
-- All of some participants.
SELECT group_concat(shape, ',') FROM bookmarks_shape WHERE participant IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(participant || ' ' || client || ' ' || conversation AS BLOB), CAST(shape AS BLOB) FROM bookmarks_shape ORDER BY participant, client, conversation;
