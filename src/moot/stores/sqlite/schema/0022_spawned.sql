-- Agents that were started by others: who started whom, from which template, and until when.

CREATE TABLE spawned (
    agent        TEXT PRIMARY KEY,
    "by"         TEXT NOT NULL,
    template     TEXT NOT NULL,
    depth        INTEGER NOT NULL,
    project      TEXT NOT NULL,
    root         TEXT NOT NULL,
    asked_in     TEXT NOT NULL,
    until        REAL NOT NULL,
    idle_seconds REAL NOT NULL,
    key          TEXT NOT NULL,
    created_us   INTEGER NOT NULL,
    ended_at     REAL NOT NULL,
    ending       TEXT NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL
) STRICT, WITHOUT ROWID;
