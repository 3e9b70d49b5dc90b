-- Where chains of the audit end.

-- name: shape
-- A ChainHead.
CREATE TEMP VIEW chain_heads_shape AS
SELECT chain, rtrim(json_array(
    chain, length, hash, before, sealed, digest
), ']') || ',' || coalesce(newest, 'null') || ']' AS shape FROM main.chain_heads;

-- name: put
-- A head, new or moved on.
INSERT INTO chain_heads (chain, length, hash, before, newest, sealed, digest) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (chain) DO UPDATE SET
    length = excluded.length, hash = excluded.hash, before = excluded.before, newest = excluded.newest,
    sealed = excluded.sealed, digest = excluded.digest;

-- name: drop
-- None is dropped.
DELETE FROM chain_heads WHERE chain = ?;

-- name: by_key
-- By [[chain], …].
SELECT group_concat(shape, ',') FROM chain_heads_shape WHERE chain IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All of them.
SELECT group_concat(shape, ',' ORDER BY chain) FROM chain_heads_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(chain AS BLOB), CAST(shape AS BLOB) FROM chain_heads_shape ORDER BY chain;
