-- Tokens: only what they hash to.

-- name: shape
-- A Token.
CREATE TEMP VIEW tokens_shape AS
SELECT id, participant, digest, created_us,
    rtrim(json_array(id, participant, digest, created_us / 1e6, used_at, revoked_at, parent, kind, expires_at), ']') || ',' || scopes || ']' AS shape
FROM main.tokens;

-- name: put
-- A token, new, used or revoked.
INSERT INTO tokens (id, participant, digest, scopes, created_us, used_at, revoked_at, parent, kind, expires_at)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    participant = excluded.participant, digest = excluded.digest, scopes = excluded.scopes,
    created_us = excluded.created_us, used_at = excluded.used_at, revoked_at = excluded.revoked_at,
    parent = excluded.parent, kind = excluded.kind, expires_at = excluded.expires_at;

-- name: drop
-- Sign-in codes, once used or too old, and browsers that signed out long ago. Of programs a revoked one stays, so that
-- nobody takes it for unknown.
DELETE FROM tokens WHERE id = ?;

-- name: by_key
-- By [[id], …].
SELECT group_concat(shape, ',') FROM tokens_shape WHERE id IN (SELECT value ->> 0 FROM json_each(?1));

-- name: by_participant
-- All of some participants, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM tokens_shape
WHERE participant IN (SELECT value FROM json_each(?1));

-- name: by_digest
-- By what they hash to.
SELECT group_concat(shape, ',') FROM tokens_shape WHERE digest IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM tokens_shape ORDER BY id;
