-- Who publishes.

-- name: shape
-- RelayLease.
CREATE VIEW relays_shape AS
SELECT name, json_build_array(name, host, fence, until_us / 1e6::float8)::text AS shape
FROM relays;

-- name: put
-- A lease, new or changed.
INSERT INTO relays (name, host, fence, until_us)
VALUES ($1, $2, $3, $4)
ON CONFLICT (name) DO UPDATE SET
    host = excluded.host, fence = excluded.fence, until_us = excluded.until_us;

-- name: drop
-- Nobody publishes.
DELETE FROM relays WHERE name = $1;

-- name: by_key
-- By [[name], …].
SELECT string_agg(shape, ',') FROM relays_shape
WHERE name IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- All there are.
SELECT string_agg(shape, ',' ORDER BY name) FROM relays_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT name::text, shape FROM relays_shape ORDER BY name;
