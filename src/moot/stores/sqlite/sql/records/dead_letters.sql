-- Records that made no sense.

-- name: shape
-- DeadLetter.
CREATE TEMP VIEW dead_letters_shape AS
SELECT slot, json_array(slot, topic, part, place, reason, text, at_us / 1e6) AS shape
FROM main.dead_letters;

-- name: put
-- A dead letter, new or changed.
INSERT INTO dead_letters (slot, topic, part, place, reason, text, at_us)
VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (slot) DO UPDATE SET
    topic = excluded.topic, part = excluded.part, place = excluded.place, reason = excluded.reason, text = excluded.text, at_us = excluded.at_us;

-- name: drop
-- It was looked at.
DELETE FROM dead_letters WHERE slot = ?;

-- name: by_key
-- By [[slot], …].
SELECT group_concat(shape, ',') FROM dead_letters_shape
WHERE slot IN (SELECT value ->> 0 FROM json_each(?1));

-- name: whole
-- All there are.
SELECT group_concat(shape, ',' ORDER BY slot) FROM dead_letters_shape WHERE ?1 = '[]';

-- name: every
-- Row by row, each with its place, in the order of their keys.
SELECT CAST(slot AS BLOB), CAST(shape AS BLOB) FROM dead_letters_shape ORDER BY slot;
