-- What was spent.

-- name: shape
-- A Spending.
CREATE VIEW spending_shape AS
SELECT kind, subject, day, json_build_array(
    kind, subject, day, cost_usd, tokens, turns, unpriced, last_usd, last_tokens, updated_us / 1e6::float8,
    raised_usd, raised_tokens, begun
)::text AS shape FROM spending;

-- name: put
-- More was spent.
INSERT INTO spending (
    kind, subject, day, cost_usd, tokens, turns, unpriced, last_usd, last_tokens, updated_us,
    raised_usd, raised_tokens, begun
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)
ON CONFLICT (kind, subject, day) DO UPDATE SET
    cost_usd = excluded.cost_usd, tokens = excluded.tokens, turns = excluded.turns, unpriced = excluded.unpriced,
    last_usd = excluded.last_usd, last_tokens = excluded.last_tokens, updated_us = excluded.updated_us,
    raised_usd = excluded.raised_usd, raised_tokens = excluded.raised_tokens, begun = excluded.begun;

-- name: drop
-- None is dropped.
DELETE FROM spending WHERE kind = $1 AND subject = $2 AND day = $3;

-- name: by_key
-- By [[kind, subject, day], …].
SELECT string_agg(shape, ',') FROM json_array_elements($1::json) w JOIN spending_shape s
ON s.kind = w.value ->> 0 AND s.subject = w.value ->> 1 AND s.day = (w.value ->> 2)::bigint;

-- name: by_subject
-- Of some agents or chains.
SELECT string_agg(shape, ',' ORDER BY kind, subject, day) FROM spending_shape WHERE subject = ANY($1::text[]);

-- name: every
-- Row by row, each with its place.
SELECT (kind || ' ' || subject || ' ' || day), shape FROM spending_shape;
