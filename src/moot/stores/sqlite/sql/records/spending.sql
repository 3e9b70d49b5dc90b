-- What was spent.

-- name: shape
-- A Spending.
CREATE TEMP VIEW spending_shape AS
SELECT kind, subject, day, json_array(
    kind, subject, day, cost_usd, tokens, turns, unpriced, last_usd, last_tokens, updated_us / 1e6,
    raised_usd, raised_tokens, begun
) AS shape FROM main.spending;

-- name: put
-- More was spent.
INSERT INTO spending (
    kind, subject, day, cost_usd, tokens, turns, unpriced, last_usd, last_tokens, updated_us,
    raised_usd, raised_tokens, begun
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (kind, subject, day) DO UPDATE SET
    cost_usd = excluded.cost_usd, tokens = excluded.tokens, turns = excluded.turns, unpriced = excluded.unpriced,
    last_usd = excluded.last_usd, last_tokens = excluded.last_tokens, updated_us = excluded.updated_us,
    raised_usd = excluded.raised_usd, raised_tokens = excluded.raised_tokens, begun = excluded.begun;

-- name: drop
-- None is dropped.
DELETE FROM spending WHERE kind = ? AND subject = ? AND day = ?;

-- name: by_key
-- By [[kind, subject, day], …].
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN spending_shape s
ON s.kind = w.value ->> 0 AND s.subject = w.value ->> 1 AND s.day = w.value ->> 2;

-- name: by_subject
-- Of some agents or chains.
SELECT group_concat(shape, ',' ORDER BY kind, subject, day) FROM spending_shape WHERE subject IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place.
SELECT CAST(kind || ' ' || subject || ' ' || day AS BLOB), CAST(shape AS BLOB) FROM spending_shape;
