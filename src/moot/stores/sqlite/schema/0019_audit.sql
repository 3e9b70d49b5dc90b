-- The audit: what people did, what was refused to agents, what became of tasks. Each hash covers the one before it in its
-- chain. A task says itself where its chain ends; the ends of the others are in chain_heads.

CREATE TABLE audit_entries (
    chain        TEXT NOT NULL,  -- acts | refusals:AGENT | task:TASK
    place        INTEGER NOT NULL,
    at_us        INTEGER NOT NULL,
    by           TEXT NOT NULL,
    on_behalf_of TEXT NOT NULL,
    door         TEXT NOT NULL,
    act          TEXT NOT NULL,
    subject      TEXT NOT NULL,
    detail       TEXT NOT NULL,  -- JSON
    digest       TEXT NOT NULL,
    count        INTEGER NOT NULL,
    last_us      INTEGER NOT NULL,
    hash         TEXT NOT NULL,
    at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06dZ', at_us % 1000000)) VIRTUAL,
    PRIMARY KEY (chain, place)
) STRICT, WITHOUT ROWID;
CREATE INDEX audit_entries_by_time ON audit_entries (last_us);
CREATE INDEX audit_entries_by_subject ON audit_entries (subject);

CREATE TABLE chain_heads (
    chain  TEXT PRIMARY KEY,
    length INTEGER NOT NULL,
    hash   TEXT NOT NULL,
    before TEXT NOT NULL,
    newest TEXT,  -- JSON
    sealed INTEGER NOT NULL,
    digest TEXT NOT NULL
) STRICT, WITHOUT ROWID;

ALTER TABLE tasks ADD COLUMN chain TEXT NOT NULL DEFAULT '';
ALTER TABLE tasks ADD COLUMN chain_length INTEGER NOT NULL DEFAULT 0;
