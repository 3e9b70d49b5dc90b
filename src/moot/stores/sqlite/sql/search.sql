-- The full-text index: caught up by the writer in batches, exact for every message up to the counter `indexed`.

-- name: newest_row
-- How far the index would have to reach to know every message.
SELECT coalesce(max(row), 0) FROM messages;

-- name: indexed
-- How far it reaches.
SELECT value FROM counters WHERE name = 'indexed';

-- name: index_some
-- The next messages, at most ?1.
INSERT INTO message_words (rowid, content)
SELECT row, content FROM messages WHERE row > (SELECT value FROM counters WHERE name = 'indexed')
ORDER BY row LIMIT ?1;

-- name: move_indexed
-- After index_some: how far the index reaches now. ?1 as there.
UPDATE counters SET value = coalesce((
    SELECT max(row) FROM (SELECT row FROM messages WHERE row > counters.value ORDER BY row LIMIT ?1)
), value) WHERE name = 'indexed';

-- name: unindex_message
-- Before an indexed message changes.
INSERT INTO message_words (message_words, rowid, content)
SELECT 'delete', row, content FROM messages
WHERE conversation = ? AND seq = ? AND row <= (SELECT value FROM counters WHERE name = 'indexed');

-- name: reindex_message
-- After an indexed message changed.
INSERT INTO message_words (rowid, content)
SELECT row, content FROM messages
WHERE conversation = ? AND seq = ? AND row <= (SELECT value FROM counters WHERE name = 'indexed');

-- name: unindex_conversation
-- Before a conversation is erased.
INSERT INTO message_words (message_words, rowid, content)
SELECT 'delete', row, content FROM messages
WHERE conversation = :conversation AND row <= (SELECT value FROM counters WHERE name = 'indexed');

-- name: rows_may_come_again
-- After rows were erased: SQLite gives the highest numbers again, and they must be indexed then.
UPDATE counters SET value = min(value, coalesce((SELECT max(row) FROM messages), 0)) WHERE name = 'indexed';

-- name: search
-- Messages holding all words, newest first, each with the piece of text around them.
SELECT m.shape, snippet(message_words, 0, '', '', '…', 16)
FROM message_words CROSS JOIN message_shape m ON m.row = message_words.rowid
WHERE message_words MATCH ?1 ORDER BY message_words.rowid DESC LIMIT ?2;
