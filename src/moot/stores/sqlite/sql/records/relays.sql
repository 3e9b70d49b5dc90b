-- Who publishes.

-- name: shape
-- RelayLease.
CREATE TEMP VIEW relays_shape AS
SELECT name, json_array(name, host, fence, until_us / 1e6) AS shape
FROM main.relays;

-- name: put
-- A lease, new or changed.
INSERT INTO relays (name, host, fence, until_us)
VALUES (?, ?, ?, ?)
ON CONFLICT (name) DO UPDATE SET
    host = excluded.host, fence = excluded.fence, until_us = excluded.until_us;

-- name: drop
-- Nobody publishes.
DELETE FROM relays WHERE name = ?;

-- name: by_key
-- By [[name], …].
SELECT group_concat(shape, ',') FROM relays_shape
WHERE name IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All there are.
SELECT group_concat(shape, ',' ORDER BY name) FROM relays_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(name AS BLOB), CAST(shape AS BLOB) FROM relays_shape ORDER BY name;
