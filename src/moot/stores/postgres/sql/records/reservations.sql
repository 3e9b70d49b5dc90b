-- What turns under way have set aside of their budgets.

-- name: shape
-- A Reservation.
CREATE VIEW reservations_shape AS
SELECT turn, rtrim(json_build_array(turn, conversation, agent, root, day, usd, tokens, alone, until)::text, ']')
    || ',' || above || ']' AS shape FROM reservations;

-- name: put
-- A turn sets something aside.
INSERT INTO reservations (turn, conversation, agent, root, day, above, usd, tokens, alone, until)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (turn) DO UPDATE SET
    conversation = excluded.conversation, agent = excluded.agent, root = excluded.root, day = excluded.day,
    above = excluded.above, usd = excluded.usd, tokens = excluded.tokens, alone = excluded.alone,
    until = excluded.until;

-- name: drop
-- The turn is over.
DELETE FROM reservations WHERE turn = $1;

-- name: by_key
-- By [[turn], …].
SELECT string_agg(shape, ',') FROM reservations_shape
WHERE turn IN (SELECT (w.value ->> 0)::bigint FROM json_array_elements($1::json) w);

-- name: whole
-- All of them.
SELECT string_agg(shape, ',' ORDER BY turn) FROM reservations_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT turn::text, shape FROM reservations_shape ORDER BY turn;
