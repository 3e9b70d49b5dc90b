-- Accounts of people in chat apps.

-- name: shape
-- A BridgeAccount.
CREATE VIEW bridge_accounts_shape AS
SELECT bridge, account, participant, created_us, json_build_array(
    bridge, account, participant, shown, linked, minute, in_minute, day, in_day, order_minute, orders,
    created_us / 1e6::float8
)::text AS shape FROM bridge_accounts;

-- name: put
-- An account, new or changed.
INSERT INTO bridge_accounts (
    bridge, account, participant, shown, linked, minute, in_minute, day, in_day, order_minute, orders, created_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (bridge, account) DO UPDATE SET
    participant = excluded.participant, shown = excluded.shown, linked = excluded.linked,
    minute = excluded.minute, in_minute = excluded.in_minute, day = excluded.day, in_day = excluded.in_day,
    order_minute = excluded.order_minute, orders = excluded.orders, created_us = excluded.created_us;

-- name: drop
-- None is dropped.
DELETE FROM bridge_accounts WHERE bridge = $1 AND account = $2;

-- name: by_key
-- By [[bridge, account], …].
SELECT string_agg(p.shape, ',') FROM json_array_elements($1::json) w JOIN bridge_accounts_shape p
ON p.bridge = w.value ->> 0 AND p.account = w.value ->> 1;

-- name: by_participant
-- Those of some of these, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, bridge, account) FROM bridge_accounts_shape
WHERE participant = ANY($1::text[]);

-- name: whole
-- All of them, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, bridge, account) FROM bridge_accounts_shape;

-- name: every
-- Row by row, each with its place.
SELECT bridge || ' ' || account, shape FROM bridge_accounts_shape;
