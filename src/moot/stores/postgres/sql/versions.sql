-- Which schema a database has. These must work on every schema there ever was.

-- name: server
-- What must hold of the server before anything is promised on it.
SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS shown,
       current_setting('fsync') AS fsync, current_setting('full_page_writes') AS full_page_writes,
       current_setting('synchronous_commit') AS synchronous_commit, current_setting('server_encoding') AS encoding,
       pg_is_in_recovery() AS standby, pg_postmaster_start_time()::text AS started;

-- name: state
-- How the server is doing: its clock, and how many connections it has and may have.
SELECT extract(epoch FROM clock_timestamp())::float8, (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client backend'),
       current_setting('max_connections')::int;

-- name: alone
-- Until the transaction ends nobody else migrates this schema.
SELECT pg_advisory_xact_lock($1);

-- name: schema_is_there
-- Whether the schema of the connection exists.
SELECT count(*) FROM pg_namespace WHERE nspname = $1;

-- name: name_schema
-- For make_schema, which takes no value.
SELECT set_config('moot.schema', $1, true);

-- name: make_schema
-- The schema that name_schema named.
DO $$ BEGIN EXECUTE format('CREATE SCHEMA IF NOT EXISTS %I', current_setting('moot.schema')); END $$;

-- name: versions
-- Which steps were taken is on record from the first one on.
CREATE TABLE IF NOT EXISTS schema_version (
    version    bigint PRIMARY KEY,
    compat     bigint NOT NULL,
    moot       text NOT NULL,
    applied_at text NOT NULL
);

-- name: known
-- Whether this schema is a Moot database at all.
SELECT to_regclass('schema_version') IS NOT NULL;

-- name: newest
-- The schema it has, the oldest that can read it, and who made it.
SELECT version, compat, moot FROM schema_version ORDER BY version DESC LIMIT 1;

-- name: record
-- A step is taken; in the same transaction as the step.
INSERT INTO schema_version (version, compat, moot, applied_at) VALUES ($1, $2, $3, $4);

-- name: shapes
-- Which shapes the database has.
SELECT value FROM instance WHERE name = 'shapes';

-- name: drop_shapes
-- Before other ones are made.
DO $$ DECLARE shape text; BEGIN
    FOR shape IN SELECT viewname FROM pg_views WHERE schemaname = current_schema() AND viewname LIKE '%\_shape' LOOP
        EXECUTE format('DROP VIEW %I', shape);
    END LOOP;
END $$;

-- name: note_shapes
-- These are the shapes it has now.
INSERT INTO instance (name, value) VALUES ('shapes', $1) ON CONFLICT (name) DO UPDATE SET value = excluded.value;

-- name: raise_base
-- Where a database was moved into another cluster, transactions there may be numbered from lower on: ids go on behind all
-- that were given. Nothing happens where they do so anyhow.
WITH given AS (
    SELECT greatest((SELECT max(id) FROM events), (SELECT max(id) FROM turns), (SELECT max(number) FROM messages),
                    (SELECT value FROM counters WHERE name = 'horizon')) >> 16 AS number
)
UPDATE counters SET value = given.number + 1 - pg_snapshot_xmin(pg_current_snapshot())::text::bigint
FROM given
WHERE name = 'base' AND given.number >= value + pg_snapshot_xmax(pg_current_snapshot())::text::bigint;
