-- Sessions of coding CLIs.

-- name: shape
-- A CliSession.
CREATE VIEW cli_sessions_shape AS
SELECT agent, conversation, json_build_array(
    agent, conversation, driver, session, project, version, brief, turn, reached, open, cost_usd,
    updated_us / 1e6::float8
)::text AS shape FROM cli_sessions;

-- name: put
-- A session, new or gone on.
INSERT INTO cli_sessions (
    agent, conversation, driver, session, project, version, brief, turn, reached, open, cost_usd, updated_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (agent, conversation) DO UPDATE SET
    driver = excluded.driver, session = excluded.session, project = excluded.project, version = excluded.version,
    brief = excluded.brief, turn = excluded.turn, reached = excluded.reached, open = excluded.open, cost_usd = excluded.cost_usd,
    updated_us = excluded.updated_us;

-- name: drop
-- The CLI does not know it any more.
DELETE FROM cli_sessions WHERE agent = $1 AND conversation = $2;

-- name: by_key
-- By [[agent, conversation], …].
SELECT string_agg(shape, ',') FROM json_array_elements($1::json) w JOIN cli_sessions_shape s
ON s.agent = w.value ->> 0 AND s.conversation = w.value ->> 1;

-- name: by_agent
-- Those of some agents.
SELECT string_agg(shape, ',' ORDER BY agent, conversation) FROM cli_sessions_shape WHERE agent = ANY($1::text[]);

-- name: every
-- Row by row, each with its place.
SELECT (agent || ' ' || conversation), shape FROM cli_sessions_shape;
