-- Records that made no sense.

-- name: shape
-- DeadLetter.
CREATE VIEW dead_letters_shape AS
SELECT slot, json_build_array(slot, topic, part, place, reason, text, at_us / 1e6::float8)::text AS shape
FROM dead_letters;

-- name: put
-- A dead letter, new or changed.
INSERT INTO dead_letters (slot, topic, part, place, reason, text, at_us)
VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (slot) DO UPDATE SET
    topic = excluded.topic, part = excluded.part, place = excluded.place, reason = excluded.reason, text = excluded.text, at_us = excluded.at_us;

-- name: drop
-- It was looked at.
DELETE FROM dead_letters WHERE slot = $1;

-- name: by_key
-- By [[slot], …].
SELECT string_agg(shape, ',') FROM dead_letters_shape
WHERE slot IN (SELECT (w.value ->> 0)::bigint FROM json_array_elements($1::json) w);

-- name: whole
-- All there are.
SELECT string_agg(shape, ',' ORDER BY slot) FROM dead_letters_shape;

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT slot::text, shape FROM dead_letters_shape ORDER BY slot;
