-- What agents ask people to decide: each answered once.

CREATE TABLE decisions (
    id           TEXT PRIMARY KEY,
    "by"         TEXT NOT NULL,
    "to"         TEXT NOT NULL,
    question     TEXT NOT NULL,
    choices      TEXT NOT NULL,  -- JSON
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    state        TEXT NOT NULL,
    answer       TEXT NOT NULL,
    answer_seq   INTEGER NOT NULL,
    until        REAL NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE INDEX decisions_to ON decisions ("to");
CREATE INDEX decisions_by ON decisions ("by");
CREATE INDEX decisions_in ON decisions (conversation);
