-- What came in over bridges: each once.

-- name: shape
-- A BridgeArrival.
CREATE VIEW arrivals_shape AS
SELECT bridge, "key", state, conversation, seq, created_us, json_build_array(
    bridge, "key", chat, account, state, conversation, seq, text, tries, error, created_us / 1e6::float8
)::text AS shape FROM arrivals;

-- name: put
-- An arrival, new or further along.
INSERT INTO arrivals (
    bridge, "key", chat, account, state, conversation, seq, text, tries, error, created_us
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)
ON CONFLICT (bridge, "key") DO UPDATE SET
    chat = excluded.chat, account = excluded.account, state = excluded.state,
    conversation = excluded.conversation, seq = excluded.seq, text = excluded.text, tries = excluded.tries,
    error = excluded.error, created_us = excluded.created_us;

-- name: drop
-- None is dropped: what is left when its conversation is erased says only that it was heard.
DELETE FROM arrivals WHERE bridge = $1 AND "key" = $2;

-- name: by_key
-- By [[bridge, key], …].
SELECT string_agg(p.shape, ',') FROM json_array_elements($1::json) w JOIN arrivals_shape p
ON p.bridge = w.value ->> 0 AND p."key" = w.value ->> 1;

-- name: by_state
-- Those of some of these, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, bridge, "key") FROM arrivals_shape
WHERE state = ANY($1::text[]);

-- name: by_became
-- Those that became some of these messages, oldest first.
SELECT string_agg(shape, ',' ORDER BY created_us, bridge, "key") FROM arrivals_shape
WHERE seq > 0 AND conversation || ':' || seq = ANY($1::text[]);

-- name: every
-- Row by row, each with its place.
SELECT bridge || ' ' || "key", shape FROM arrivals_shape;
