-- Which hub runs a bridge.

-- name: shape
-- A BridgeLease.
CREATE TEMP VIEW bridge_leases_shape AS
SELECT bridge, json_array(
    bridge, holder, until, fence
) AS shape FROM main.bridge_leases;

-- name: put
-- A lease, new or renewed.
INSERT INTO bridge_leases (
    bridge, holder, until, fence
) VALUES (?, ?, ?, ?)
ON CONFLICT (bridge) DO UPDATE SET
    holder = excluded.holder, until = excluded.until, fence = excluded.fence;

-- name: drop
-- A lease that was given back.
DELETE FROM bridge_leases WHERE bridge = ?;

-- name: by_key
-- By [[bridge], …].
SELECT group_concat(shape, ',') FROM bridge_leases_shape
WHERE bridge IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All of them, oldest first.
SELECT group_concat(shape, ',' ORDER BY bridge) FROM bridge_leases_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place.
SELECT CAST(bridge AS BLOB), CAST(shape AS BLOB) FROM bridge_leases_shape;
