-- The full-text index: caught up by the writer in batches, exact for every message up to the counter `indexed`.

-- name: newest_row
-- How far the index would have to reach to know every message.
SELECT coalesce(max(row), 0) FROM messages;

-- name: indexed
-- How far it reaches.
SELECT value FROM counters WHERE name = 'indexed';

-- name: index_some
-- The next messages, at most ?1.
INSERT INTO message_words (rowid, content, traits)
SELECT row, content, traits FROM searchable WHERE row > (SELECT value FROM counters WHERE name = 'indexed')
ORDER BY row LIMIT ?1;

-- name: index_times
-- Beside index_some: when they were said. ?1 as there.
INSERT INTO message_times (block, from_us, upto_us)
SELECT row / 1024, min(at_us), max(at_us) FROM (
    SELECT row, at_us FROM messages WHERE row > (SELECT value FROM counters WHERE name = 'indexed') ORDER BY row LIMIT ?1
) WHERE true GROUP BY row / 1024
ON CONFLICT (block) DO UPDATE SET
    from_us = min(from_us, excluded.from_us), upto_us = max(upto_us, excluded.upto_us);

-- name: move_indexed
-- After both: how far the index reaches now. ?1 as there.
UPDATE counters SET value = coalesce((
    SELECT max(row) FROM (SELECT row FROM messages WHERE row > counters.value ORDER BY row LIMIT ?1)
), value) WHERE name = 'indexed';

-- name: unindex_message
-- Before an indexed message changes.
INSERT INTO message_words (message_words, rowid, content, traits)
SELECT 'delete', row, content, traits FROM searchable
WHERE conversation = ? AND seq = ? AND row <= (SELECT value FROM counters WHERE name = 'indexed');

-- name: reindex_message
-- After an indexed message changed.
INSERT INTO message_words (rowid, content, traits)
SELECT row, content, traits FROM searchable
WHERE conversation = ? AND seq = ? AND row <= (SELECT value FROM counters WHERE name = 'indexed');

-- name: unindex_conversation
-- Before a conversation is erased.
INSERT INTO message_words (message_words, rowid, content, traits)
SELECT 'delete', row, content, traits FROM searchable
WHERE conversation = :conversation AND row <= (SELECT value FROM counters WHERE name = 'indexed');

-- name: rows_may_come_again
-- After rows were erased: SQLite gives the highest numbers again, and they must be indexed then.
UPDATE counters SET value = min(value, coalesce((SELECT max(row) FROM messages), 0)) WHERE name = 'indexed';

-- name: places_of
-- The conversations somebody is a member of, at most ?2.
SELECT conversation FROM members WHERE participant = ?1 LIMIT ?2;

-- name: pairs_of
-- Those of them in which whoever speaks addresses the other.
SELECT m.conversation FROM members m CROSS JOIN conversations c ON c.id = m.conversation
WHERE m.participant = ?1 AND c.kind IN ('direct', 'link', 'ephemeral');

-- name: rows_between
-- The first and the last row in which ?1 <= at_us < ?2 can be.
SELECT min(block) * 1024, max(block) * 1024 + 1023 FROM message_times WHERE upto_us >= ?1 AND from_us < ?2;

-- name: search
-- Messages in the index, newest first, each with the piece of text around the words.
SELECT m.shape, snippet(message_words, 0, '', '', '…', 16)
FROM message_words CROSS JOIN message_shape m ON m.row = message_words.rowid
WHERE message_words MATCH :words AND message_words.rowid BETWEEN :first AND :last
  AND m.at_us >= :after AND m.at_us < :before
  AND (:reader IS NULL OR m.conversation IN (SELECT conversation FROM members WHERE participant = :reader))
ORDER BY message_words.rowid DESC LIMIT :limit;

-- name: count
-- How many there are, counted up to a limit.
SELECT count(*) FROM (
    SELECT 1 FROM message_words CROSS JOIN messages m ON m.row = message_words.rowid
    WHERE message_words MATCH :words AND message_words.rowid BETWEEN :first AND :last
      AND m.at_us >= :after AND m.at_us < :before
      AND (:reader IS NULL OR m.conversation IN (SELECT conversation FROM members WHERE participant = :reader))
    LIMIT :limit
);
