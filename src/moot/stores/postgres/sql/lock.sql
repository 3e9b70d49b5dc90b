-- How hubs wait for each other and hear of each other. What a batch locks before it reads: locks end with the transaction; nobody has to be cleaned up after.

-- name: begin
-- A batch, beside others: everybody who writes holds this lock. Its number was told to the connection when it was made, so
-- that beginning takes one round trip.
BEGIN;
SELECT pg_advisory_xact_lock_shared(current_setting('moot.writers')::bigint);

-- name: begin_alone
-- Who has been overtaken too often writes alone.
BEGIN;
SELECT pg_advisory_xact_lock(current_setting('moot.writers')::bigint);

-- name: each
-- These, in the order given.
SELECT count(pg_advisory_xact_lock(key)) FROM unnest($1::bigint[]) AS key;

-- name: status
-- What became of a transaction whose connection was lost.
SELECT pg_xact_status($1::text::xid8);

-- name: notify
-- Other hubs, that the log has grown.
SELECT pg_notify($1, $2);

-- name: show
-- What is not stored, to hubs elsewhere.
SELECT count(pg_notify($1, line)) FROM unnest($2::text[]) AS line;

-- name: unsynced
-- A connection that stores nothing waits for no disk.
SET synchronous_commit = off;
