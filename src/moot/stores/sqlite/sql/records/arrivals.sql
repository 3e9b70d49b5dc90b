-- What came in over bridges: each once.

-- name: shape
-- A BridgeArrival.
CREATE TEMP VIEW arrivals_shape AS
SELECT bridge, "key", state, conversation, seq, created_us, json_array(
    bridge, "key", chat, account, state, conversation, seq, text, tries, error, created_us / 1e6
) AS shape FROM main.arrivals;

-- name: put
-- An arrival, new or further along.
INSERT INTO arrivals (
    bridge, "key", chat, account, state, conversation, seq, text, tries, error, created_us
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (bridge, "key") DO UPDATE SET
    chat = excluded.chat, account = excluded.account, state = excluded.state,
    conversation = excluded.conversation, seq = excluded.seq, text = excluded.text, tries = excluded.tries,
    error = excluded.error, created_us = excluded.created_us;

-- name: drop
-- None is dropped: what is left when its conversation is erased says only that it was heard.
DELETE FROM arrivals WHERE bridge = ? AND "key" = ?;

-- name: by_key
-- By [[bridge, key], …].
SELECT group_concat(p.shape, ',') FROM json_each(?1) w CROSS JOIN arrivals_shape p
ON p.bridge = w.value ->> 0 AND p."key" = w.value ->> 1;

-- name: by_state
-- Those of some of these, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, bridge, "key") FROM arrivals_shape
WHERE state IN (SELECT value FROM json_each(?1));

-- name: by_became
-- Those that became some of these messages, oldest first.
SELECT group_concat(shape, ',' ORDER BY created_us, bridge, "key") FROM arrivals_shape
WHERE seq > 0 AND conversation || ':' || seq IN (SELECT value FROM json_each(?1));

-- name: every
-- Row by row, each with its place.
SELECT CAST(bridge || ' ' || "key" AS BLOB), CAST(shape AS BLOB) FROM arrivals_shape;
