-- Accounts of people in chat apps.

-- name: shape
-- A BridgeAccount.
CREATE TEMP VIEW bridge_accounts_shape AS
SELECT bridge, account, participant, created_us, json_array(
    bridge, account, participant, shown, linked, minute, in_minute, day, in_day, order_minute, orders,
    created_us / 1e6
) AS shape FROM main.bridge_accounts;

-- name: put
-- An account, new or changed.
INSERT INTO bridge_accounts (
    bridge, account, participant, shown, linked, minute, in_minute, day, in_day, order_minute, orders, created_us
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bridge, account) DO UPDATE SET
    participant = excluded.participant, shown = excluded.shown, linked = excluded.linked,
    minute = excluded.minute, in_minute = excluded.in_minute, day = excluded.day, in_day = excluded.in_day,
    order_minute = excluded.order_minute, orders = excluded.orders, created_us = excluded.created_us;

-- name: drop
-- None is dropped.
DELETE FROM bridge_accounts WHERE bridge = ? AND account = ?;

-- name: by_key
-- By [[bridge, account], …].
SELECT group_concat(p.shape, ',') FROM json_each(?1) w CROSS JOIN bridge_accounts_shape p
ON p.bridge = w.value ->> 0 AND p.account = w.value ->> 1;

-- name: by_participant
-- Those of some of these, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, bridge, account) FROM bridge_accounts_shape
WHERE participant IN (SELECT value FROM json_each(?1));

-- name: whole
-- All of them, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, bridge, account) FROM bridge_accounts_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place.
SELECT CAST(bridge || ' ' || account AS BLOB), CAST(shape AS BLOB) FROM bridge_accounts_shape;
