-- How hubs wait for each other and hear of each other. What a batch locks before it reads: locks end with the transaction; nobody has to be cleaned up after.

-- name: shared
-- Everybody who writes holds this.
SELECT pg_advisory_xact_lock_shared($1);

-- name: alone
-- Who has been overtaken too often writes alone.
SELECT pg_advisory_xact_lock($1);

-- name: each
-- These, in the order given.
SELECT count(pg_advisory_xact_lock(key)) FROM unnest($1::bigint[]) AS key;

-- name: status
-- What became of a transaction whose connection was lost.
SELECT pg_xact_status($1::text::xid8);

-- name: tell
-- Other hubs, that the log has grown.
SELECT pg_notify($1, $2);
