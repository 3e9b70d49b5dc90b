-- Agents that were started by others.

-- name: shape
-- A SpawnRecord.
CREATE VIEW spawned_shape AS
SELECT agent, created_us, json_build_array(
    agent, "by", template, depth, project, root, asked_in, until, idle_seconds, key, created_us / 1e6::float8,
    ended_at, ending
)::text AS shape FROM spawned;

-- name: put
-- One that was started, or has retired.
INSERT INTO spawned (
    agent, "by", template, depth, project, root, asked_in, until, idle_seconds, key, created_us, ended_at, ending
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (agent) DO UPDATE SET
    "by" = excluded."by", template = excluded.template, depth = excluded.depth, project = excluded.project, root =
    excluded.root, asked_in = excluded.asked_in, until = excluded.until, idle_seconds = excluded.idle_seconds, key =
    excluded.key, created_us = excluded.created_us, ended_at = excluded.ended_at, ending = excluded.ending;

-- name: drop
-- One that retired long ago.
DELETE FROM spawned WHERE agent = $1;

-- name: by_key
-- By [[agent], …].
SELECT string_agg(shape, ',') FROM spawned_shape WHERE agent IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- All of them, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, agent) FROM spawned_shape;

-- name: every
-- Row by row, each with its place.
SELECT agent, shape FROM spawned_shape;
