-- Who has which part of what several hosts could do.

-- name: shape
-- A Share.
CREATE TEMP VIEW shares_shape AS
SELECT grp, part, json_array(grp, part, host, fence, until, place) AS shape FROM main.shares;

-- name: put
-- A share, new or in other hands.
INSERT INTO shares (grp, part, host, fence, until, place) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (grp, part) DO UPDATE SET
    host = excluded.host, fence = excluded.fence, until = excluded.until, place = excluded.place;

-- name: drop
-- Nobody shares it any more.
DELETE FROM shares WHERE grp = ? AND part = ?;

-- name: by_key
-- By [[grp, part], …].
SELECT group_concat(shape, ',') FROM shares_shape
WHERE (grp, part) IN (SELECT value ->> 0, value ->> 1 FROM json_each(?1));

-- name: by_grp
-- The parts of some groups.
SELECT group_concat(shape, ',' ORDER BY part) FROM shares_shape WHERE grp IN (SELECT value FROM json_each(?1));

-- name: whole
-- Every share.
SELECT group_concat(shape, ',' ORDER BY grp, part) FROM shares_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(grp || ' ' || part AS BLOB), CAST(shape AS BLOB) FROM shares_shape ORDER BY grp, part;
