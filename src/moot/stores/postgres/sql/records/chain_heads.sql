-- Where chains of the audit end.

-- name: shape
-- A ChainHead.
CREATE VIEW chain_heads_shape AS
SELECT chain, rtrim(json_build_array(
    chain, length, hash, before, sealed, digest
)::text, ']') || ',' || coalesce(newest, 'null') || ']' AS shape FROM chain_heads;

-- name: put
-- A head, new or moved on.
INSERT INTO chain_heads (chain, length, hash, before, newest, sealed, digest) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (chain) DO UPDATE SET
    length = excluded.length, hash = excluded.hash, before = excluded.before, newest = excluded.newest,
    sealed = excluded.sealed, digest = excluded.digest;

-- name: drop
-- None is dropped.
DELETE FROM chain_heads WHERE chain = $1;

-- name: by_key
-- By [[chain], …].
SELECT string_agg(shape, ',') FROM chain_heads_shape WHERE chain IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- All of them.
SELECT string_agg(shape, ',' ORDER BY chain) FROM chain_heads_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT chain, shape FROM chain_heads_shape ORDER BY chain;
