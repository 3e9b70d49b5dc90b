-- Who has which part of what several hosts could do.

-- name: shape
-- A Share.
CREATE VIEW shares_shape AS
SELECT grp, part, json_build_array(grp, part, host, fence, until, place)::text AS shape FROM shares;

-- name: put
-- A share, new or in other hands.
INSERT INTO shares (grp, part, host, fence, until, place) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (grp, part) DO UPDATE SET
    host = excluded.host, fence = excluded.fence, until = excluded.until, place = excluded.place;

-- name: drop
-- Nobody shares it any more.
DELETE FROM shares WHERE grp = $1 AND part = $2;

-- name: by_key
-- By [[grp, part], …].
SELECT string_agg(shape, ',') FROM shares_shape
WHERE (grp, part) IN (SELECT w.value ->> 0, (w.value ->> 1)::bigint FROM json_array_elements($1::json) w);

-- name: by_grp
-- The parts of some groups.
SELECT string_agg(shape, ',' ORDER BY part) FROM shares_shape WHERE grp = ANY($1::text[]);

-- name: whole
-- Every share.
SELECT string_agg(shape, ',' ORDER BY grp, part) FROM shares_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT grp || ' ' || part, shape FROM shares_shape ORDER BY grp, part;
