-- Links between participants. The table is agent_links; `links` is the view that people read.

-- name: shape
-- A Link.
CREATE TEMP VIEW links_shape AS
SELECT id, created_us, json_array(
    id, source, target, direction, relationship, wanted, switched_off, origin, place, created_us / 1e6, updated_us / 1e6
) AS shape FROM main.agent_links;

-- name: put
-- A link, new or changed.
INSERT INTO agent_links (
    id, source, target, direction, relationship, wanted, switched_off, origin, place, created_us, updated_us
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    source = excluded.source, target = excluded.target, direction = excluded.direction,
    relationship = excluded.relationship, wanted = excluded.wanted, switched_off = excluded.switched_off,
    origin = excluded.origin, place = excluded.place, created_us = excluded.created_us,
    updated_us = excluded.updated_us;

-- name: drop
-- A link that was deleted.
DELETE FROM agent_links WHERE id = ?;

-- name: by_key
-- By [[id], …].
SELECT group_concat(shape, ',') FROM links_shape WHERE id IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- Every link, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM links_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM links_shape ORDER BY id;
