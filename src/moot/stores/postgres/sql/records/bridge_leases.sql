-- Which hub runs a bridge.

-- name: shape
-- A BridgeLease.
CREATE VIEW bridge_leases_shape AS
SELECT bridge, json_build_array(
    bridge, holder, until, fence
)::text AS shape FROM bridge_leases;

-- name: put
-- A lease, new or renewed.
INSERT INTO bridge_leases (
    bridge, holder, until, fence
) VALUES ($1, $2, $3, $4)
ON CONFLICT (bridge) DO UPDATE SET
    holder = excluded.holder, until = excluded.until, fence = excluded.fence;

-- name: drop
-- A lease that was given back.
DELETE FROM bridge_leases WHERE bridge = $1;

-- name: by_key
-- By [[bridge], …].
SELECT string_agg(shape, ',') FROM bridge_leases_shape
WHERE bridge IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- All of them, oldest first.
SELECT string_agg(shape, ',' ORDER BY bridge) FROM bridge_leases_shape;

-- name: every
-- Row by row, each with its place.
SELECT bridge, shape FROM bridge_leases_shape;
