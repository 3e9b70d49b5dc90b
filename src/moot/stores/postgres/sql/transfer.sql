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
SELECT number, shape FROM message_shape ORDER BY number;

-- name: texts
-- All texts that are kept under their fingerprint.
SELECT digest, json_build_array(digest, text)::text FROM texts ORDER BY digest;

-- name: facts
-- What is known of this instance, without what belongs to this database alone.
SELECT name, value FROM instance WHERE name NOT IN ('shapes', 'moving') ORDER BY name;

-- name: reach
-- The newest event that was given, and the newest that is no longer kept.
SELECT greatest((SELECT max(id) FROM events), (SELECT value FROM counters WHERE name = 'horizon'), 0),
       (SELECT value FROM counters WHERE name = 'horizon');

-- name: mark
-- How far a move into this database has come; NULL where none is under way.
SELECT (SELECT value FROM instance WHERE name = 'moving');

-- name: put_fact
-- A fact of this instance, or how far a move has come.
INSERT INTO instance (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: unmark
-- The move has ended.
DELETE FROM instance WHERE name = 'moving';

-- name: set_horizon
-- What was forgotten there is forgotten here; whoever keeps the link graph at hand has to read it.
UPDATE counters SET value = CASE name WHEN 'horizon' THEN greatest(value, $1) ELSE value + 1 END WHERE name IN ('horizon', 'links');

-- name: empty
-- Begin anew, whatever tables there are.
DO $$ DECLARE one text; BEGIN
    FOR one IN SELECT tablename FROM pg_tables WHERE schemaname = current_schema()
               AND tablename NOT IN ('schema_version', 'counters', 'instance') LOOP
        EXECUTE format('TRUNCATE %I', one);
    END LOOP;
END $$;

-- name: others
-- How many other connections of Moot there are to this schema; $1 is what they call themselves.
SELECT count(*) FROM pg_stat_activity
WHERE application_name = $1 AND datname = current_database() AND pid <> pg_backend_pid();

-- name: alone
-- Whether nobody else moves this store now, and nobody writes to it until the connection ends.
SELECT pg_try_advisory_lock($1);
