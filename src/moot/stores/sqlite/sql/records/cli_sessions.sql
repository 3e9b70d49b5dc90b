-- Sessions of coding CLIs.

-- name: shape
-- A CliSession.
CREATE TEMP VIEW cli_sessions_shape AS
SELECT agent, conversation, json_array(
    agent, conversation, driver, session, project, version, brief, turn, reached, open, cost_usd,
    updated_us / 1e6
) AS shape FROM main.cli_sessions;

-- name: put
-- A session, new or gone on.
INSERT INTO cli_sessions (
    agent, conversation, driver, session, project, version, brief, turn, reached, open, cost_usd, updated_us
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent, conversation) DO UPDATE SET
    driver = excluded.driver, session = excluded.session, project = excluded.project, version = excluded.version,
    brief = excluded.brief, turn = excluded.turn, reached = excluded.reached, open = excluded.open, cost_usd = excluded.cost_usd,
    updated_us = excluded.updated_us;

-- name: drop
-- The CLI does not know it any more.
DELETE FROM cli_sessions WHERE agent = ? AND conversation = ?;

-- name: by_key
-- By [[agent, conversation], …].
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN cli_sessions_shape s
ON s.agent = w.value ->> 0 AND s.conversation = w.value ->> 1;

-- name: by_agent
-- Those of some agents.
SELECT group_concat(shape, ',' ORDER BY agent, conversation) FROM cli_sessions_shape WHERE agent IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place.
SELECT CAST(agent || ' ' || conversation AS BLOB), CAST(shape AS BLOB) FROM cli_sessions_shape;
