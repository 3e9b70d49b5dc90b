-- Hashes of the codes that pair chats.

-- name: shape
-- A PairingCode.
CREATE TEMP VIEW pairing_codes_shape AS
SELECT digest, created_us, json_array(
    digest, bridge, "by", until, used_by, created_us / 1e6
) AS shape FROM main.pairing_codes;

-- name: put
-- A code, new or used.
INSERT INTO pairing_codes (
    digest, bridge, "by", until, used_by, created_us
) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (digest) DO UPDATE SET
    bridge = excluded.bridge, "by" = excluded."by", until = excluded.until, used_by = excluded.used_by,
    created_us = excluded.created_us;

-- name: drop
-- A code that has run out.
DELETE FROM pairing_codes WHERE digest = ?;

-- name: by_key
-- By [[digest], …].
SELECT group_concat(shape, ',') FROM pairing_codes_shape
WHERE digest IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All of them, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, digest) FROM pairing_codes_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place.
SELECT CAST(digest AS BLOB), CAST(shape AS BLOB) FROM pairing_codes_shape;
