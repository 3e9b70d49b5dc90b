-- Which schema a file has. These must work on every schema there ever was.

-- name: known
-- Whether it is a Moot database at all.
SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name = 'schema_version';

-- name: newest
-- The schema it has, the oldest that can read it, and who made it.
SELECT version, compat, moot FROM schema_version ORDER BY version DESC LIMIT 1;

-- name: has
-- Whether a step was taken.
SELECT count(*) FROM schema_version WHERE version = ?;

-- name: record
-- A step is taken; in the same transaction as the step.
INSERT INTO schema_version (version, compat, moot, applied_at) VALUES (?, ?, ?, ?);

-- name: outline
-- Everything that a schema consists of.
SELECT type, CAST(name AS TEXT), CAST(sql AS TEXT) FROM sqlite_schema;

-- name: counters
-- Those that are always there: turns, events, how far the full-text index reaches.
SELECT count(*) FROM counters WHERE name IN ('turn', 'event', 'indexed') AND value >= 0;
