-- Agents that were started by others.

-- name: shape
-- A SpawnRecord.
CREATE TEMP VIEW spawned_shape AS
SELECT agent, created_us, json_array(
    agent, "by", template, depth, project, root, asked_in, until, idle_seconds, key, created_us / 1e6, ended_at,
    ending
) AS shape FROM main.spawned;

-- name: put
-- One that was started, or has retired.
INSERT INTO spawned (
    agent, "by", template, depth, project, root, asked_in, until, idle_seconds, key, created_us, ended_at, ending
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent) DO UPDATE SET
    "by" = excluded."by", template = excluded.template, depth = excluded.depth, project = excluded.project, root =
    excluded.root, asked_in = excluded.asked_in, until = excluded.until, idle_seconds = excluded.idle_seconds, key =
    excluded.key, created_us = excluded.created_us, ended_at = excluded.ended_at, ending = excluded.ending;

-- name: drop
-- One that retired long ago.
DELETE FROM spawned WHERE agent = ?;

-- name: by_key
-- By [[agent], …].
SELECT group_concat(shape, ',') FROM spawned_shape WHERE agent IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All of them, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, agent) FROM spawned_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place.
SELECT CAST(agent AS BLOB), CAST(shape AS BLOB) FROM spawned_shape;
