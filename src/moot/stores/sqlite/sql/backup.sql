-- What a copy of the database needs besides its pages.

-- name: look
-- Any read: from here on the transaction sees this moment, however long it lasts.
SELECT count(*) FROM sqlite_schema;

-- name: last_numbers
-- The highest turn and event ids ever given.
SELECT max(coalesce((SELECT max(id) FROM turns), 0), (SELECT value FROM counters WHERE name = 'turn')),
       max(coalesce((SELECT max(id) FROM events), 0), (SELECT value FROM counters WHERE name = 'event'));

-- name: go_on_behind
-- After a restore: numbers that the replaced database gave are not given again, and who has read
-- on in it is told that what it knows is no longer the history here.
UPDATE counters SET value = max(value, CASE name WHEN 'turn' THEN :turn ELSE :event END) WHERE name IN ('turn', 'event');
INSERT INTO counters (name, value) VALUES ('horizon', :event)
ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value);

-- name: next_epoch
-- This history went back once more.
INSERT INTO instance (name, value) VALUES ('epoch', '1')
ON CONFLICT (name) DO UPDATE SET value = CAST(CAST(value AS INTEGER) + 1 AS TEXT);

-- name: forget_sockets
-- Where processes of then could be reached is nothing to those of now.
UPDATE hosts SET socket = '';

-- name: good_tokens
-- Those that open something.
SELECT id, participant, digest, scopes FROM tokens WHERE revoked_at = 0;

-- name: revoke_token
-- From then on it opens nothing.
UPDATE tokens SET revoked_at = ? WHERE id = ?;
