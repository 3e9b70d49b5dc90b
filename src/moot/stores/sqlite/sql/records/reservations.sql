-- What turns under way have set aside of their budgets.

-- name: shape
-- A Reservation.
CREATE TEMP VIEW reservations_shape AS
SELECT turn, rtrim(json_array(turn, conversation, agent, root, day, usd, tokens, alone, until), ']') || ',' || above || ']'
AS shape FROM main.reservations;

-- name: put
-- A turn sets something aside.
INSERT INTO reservations (turn, conversation, agent, root, day, above, usd, tokens, alone, until)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (turn) DO UPDATE SET
    conversation = excluded.conversation, agent = excluded.agent, root = excluded.root, day = excluded.day,
    above = excluded.above, usd = excluded.usd, tokens = excluded.tokens, alone = excluded.alone,
    until = excluded.until;

-- name: drop
-- The turn is over.
DELETE FROM reservations WHERE turn = ?;

-- name: by_key
-- By [[turn], …].
SELECT group_concat(shape, ',') FROM reservations_shape WHERE turn IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All of them.
SELECT group_concat(shape, ',' ORDER BY turn) FROM reservations_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(turn AS BLOB), CAST(shape AS BLOB) FROM reservations_shape ORDER BY turn;
