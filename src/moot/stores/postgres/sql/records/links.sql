-- Links between participants. The table is agent_links; `links` is the view that people read.

-- name: shape
-- A Link.
CREATE VIEW links_shape AS
SELECT id, created_us, json_build_array(
    id, source, target, direction, relationship, wanted, switched_off, origin, place, created_us / 1e6::float8, updated_us / 1e6::float8
)::text AS shape FROM agent_links;

-- name: put
-- A link, new or changed.
INSERT INTO agent_links (
    id, source, target, direction, relationship, wanted, switched_off, origin, place, created_us, updated_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (id) DO UPDATE SET
    source = excluded.source, target = excluded.target, direction = excluded.direction,
    relationship = excluded.relationship, wanted = excluded.wanted, switched_off = excluded.switched_off,
    origin = excluded.origin, place = excluded.place, created_us = excluded.created_us,
    updated_us = excluded.updated_us;

-- name: drop
-- A link that was deleted.
DELETE FROM agent_links WHERE id = $1;

-- name: by_key
-- By [[id], …].
SELECT string_agg(shape, ',') FROM links_shape WHERE id IN (SELECT w.value ->> 0 FROM json_array_elements($1::json) w);

-- name: whole
-- Every link, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM links_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT id, shape FROM links_shape ORDER BY id;
