-- Tokens: only what they hash to.

-- name: shape
-- A Token.
CREATE VIEW tokens_shape AS
SELECT id, participant, digest, created_us,
    rtrim(json_build_array(id, participant, digest, created_us / 1e6::float8, used_at, revoked_at, parent, kind, expires_at)::text, ']') || ',' || scopes || ']' AS shape
FROM tokens;

-- name: put
-- A token, new, used or revoked.
INSERT INTO tokens (id, participant, digest, scopes, created_us, used_at, revoked_at, parent, kind, expires_at)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)
ON CONFLICT (id) DO UPDATE SET
    participant = excluded.participant, digest = excluded.digest, scopes = excluded.scopes,
    created_us = excluded.created_us, used_at = excluded.used_at, revoked_at = excluded.revoked_at,
    parent = excluded.parent, kind = excluded.kind, expires_at = excluded.expires_at;

-- name: drop
-- Sign-in codes, once used or too old, and browsers that signed out long ago. Of programs a revoked one stays, so that
-- nobody takes it for unknown.
DELETE FROM tokens WHERE id = $1;

-- name: by_key
-- By [[id], …].
SELECT string_agg(shape, ',') FROM tokens_shape WHERE id IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: by_participant
-- All of some participants, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM tokens_shape
WHERE participant = ANY($1::text[]);

-- name: by_digest
-- By what they hash to.
SELECT string_agg(shape, ',') FROM tokens_shape WHERE digest = ANY($1::text[]);

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT id, shape FROM tokens_shape ORDER BY id;
