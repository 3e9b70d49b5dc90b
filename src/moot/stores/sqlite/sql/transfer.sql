-- What moving a whole store needs besides the statements that read everything (sound.sql) and write rows (write.sql).

-- name: sizes
-- How many rows there are of each kind; records are counted as they are read.
SELECT 'registry', count(*) FROM registry
UNION ALL SELECT 'conversations', count(*) FROM conversations
UNION ALL SELECT 'members', count(*) FROM members
UNION ALL SELECT 'messages', count(*) FROM messages
UNION ALL SELECT 'revisions', count(*) FROM revisions
UNION ALL SELECT 'turns', count(*) FROM turns
UNION ALL SELECT 'rounds', count(*) FROM rounds
UNION ALL SELECT 'roots', count(*) FROM roots
UNION ALL SELECT 'pairs', count(*) FROM pairs
UNION ALL SELECT 'quotas', count(*) FROM quotas
UNION ALL SELECT 'hosts', count(*) FROM hosts
UNION ALL SELECT 'summaries', count(*) FROM summaries
UNION ALL SELECT 'events', count(*) FROM events
UNION ALL SELECT 'texts', count(*) FROM texts;

-- name: messages
-- All messages, in the order in which they were stored.
SELECT row, CAST(shape AS BLOB) FROM message_shape ORDER BY row;

-- name: texts
-- All texts that are kept under their fingerprint.
SELECT CAST(digest AS BLOB), CAST(json_array(digest, text) AS BLOB) FROM texts ORDER BY digest;

-- name: facts
-- What is known of this instance, without how far a move has come.
SELECT name, value FROM instance WHERE name <> 'moving' ORDER BY name;

-- name: reach
-- The newest event that was given, and the newest that is no longer kept.
SELECT max(coalesce((SELECT max(id) FROM events), 0), (SELECT value FROM counters WHERE name = 'event')),
       coalesce((SELECT value FROM counters WHERE name = 'horizon'), 0);

-- name: mark
-- How far a move into this database has come; NULL where none is under way.
SELECT (SELECT value FROM instance WHERE name = 'moving');

-- name: put_fact
-- A fact of this instance, or how far a move has come.
INSERT INTO instance (name, value) VALUES (?, ?) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: unmark
-- The move has ended.
DELETE FROM instance WHERE name = 'moving';

-- name: go_on_behind
-- Ids go on behind all that were given, and what was forgotten there is forgotten here.
UPDATE counters SET value = max(value, coalesce((SELECT max(id) FROM turns), 0)) WHERE name = 'turn';
UPDATE counters SET value = max(value, :event) WHERE name = 'event';
UPDATE counters SET value = value + 1 WHERE name = 'links';
INSERT INTO counters (name, value) VALUES ('horizon', :horizon)
ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value);
