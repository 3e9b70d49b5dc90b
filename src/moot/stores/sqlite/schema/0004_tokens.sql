-- What participants show to be let in. Only the hash is kept.

CREATE TABLE tokens (
    id          TEXT PRIMARY KEY,
    participant TEXT NOT NULL,
    digest      TEXT NOT NULL UNIQUE,  -- SHA-256 of the token, in hex
    scopes      TEXT NOT NULL,  -- JSON
    created_us  INTEGER NOT NULL,
    used_at     REAL NOT NULL,  -- to the minute; 0 never
    revoked_at  REAL NOT NULL,  -- 0 while it is good
    created_at  TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE INDEX tokens_of ON tokens (participant);
