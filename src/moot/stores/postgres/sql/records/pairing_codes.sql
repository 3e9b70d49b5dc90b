-- Hashes of the codes that pair chats.

-- name: shape
-- A PairingCode.
CREATE VIEW pairing_codes_shape AS
SELECT digest, created_us, json_build_array(
    digest, bridge, "by", until, used_by, created_us / 1e6::float8
)::text AS shape FROM pairing_codes;

-- name: put
-- A code, new or used.
INSERT INTO pairing_codes (
    digest, bridge, "by", until, used_by, created_us
) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (digest) DO UPDATE SET
    bridge = excluded.bridge, "by" = excluded."by", until = excluded.until, used_by = excluded.used_by,
    created_us = excluded.created_us;

-- name: drop
-- A code that has run out.
DELETE FROM pairing_codes WHERE digest = $1;

-- name: by_key
-- By [[digest], …].
SELECT string_agg(shape, ',') FROM pairing_codes_shape
WHERE digest IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- All of them, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, digest) FROM pairing_codes_shape;

-- name: every
-- Row by row, each with its place.
SELECT digest, shape FROM pairing_codes_shape;
