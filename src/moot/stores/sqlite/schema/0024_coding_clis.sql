-- Sessions of coding CLIs, one per agent and conversation; and what agents spend, by agent and day, by chain, by day.

CREATE TABLE cli_sessions (
    agent        TEXT NOT NULL,
    conversation TEXT NOT NULL,
    driver       TEXT NOT NULL,
    session      TEXT NOT NULL,
    project      TEXT NOT NULL,
    version      TEXT NOT NULL,
    brief        TEXT NOT NULL,
    turn         INTEGER NOT NULL,
    reached      INTEGER NOT NULL,
    open         INTEGER NOT NULL,
    cost_usd     REAL NOT NULL,
    grants       TEXT NOT NULL,
    updated_us   INTEGER NOT NULL,
    updated_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', updated_us / 1000000, 'unixepoch') || printf('.%06dZ', updated_us % 1000000)) VIRTUAL,
    PRIMARY KEY (agent, conversation)
) STRICT, WITHOUT ROWID;
CREATE INDEX cli_sessions_in ON cli_sessions (conversation);

CREATE TABLE spending (
    kind        TEXT NOT NULL,  -- agent, root or day
    subject     TEXT NOT NULL,
    day         INTEGER NOT NULL,  -- since 1970; 0 for chains
    cost_usd    REAL NOT NULL,
    tokens      INTEGER NOT NULL,
    turns       INTEGER NOT NULL,
    unpriced    INTEGER NOT NULL,
    last_usd    REAL NOT NULL,
    last_tokens INTEGER NOT NULL,
    updated_us  INTEGER NOT NULL,
    updated_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', updated_us / 1000000, 'unixepoch') || printf('.%06dZ', updated_us % 1000000)) VIRTUAL,
    PRIMARY KEY (kind, subject, day)
) STRICT, WITHOUT ROWID;
CREATE INDEX spending_of ON spending (subject);
