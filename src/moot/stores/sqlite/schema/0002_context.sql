-- What agents were given, the tools they called, and the summaries that stand for what they no longer see.

-- Facts of this instance. `secret` derives the boundaries of prompts; it guards nothing else.
CREATE TABLE instance (
    name  TEXT PRIMARY KEY,
    value TEXT NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO instance (name, value) VALUES ('id', lower(hex(randomblob(8)))), ('secret', lower(hex(randomblob(16))));

ALTER TABLE turns ADD COLUMN steps TEXT NOT NULL DEFAULT '[]';  -- JSON: tool calls, begun and answered
ALTER TABLE turns ADD COLUMN given TEXT;  -- JSON: what its agent was shown, by reference
ALTER TABLE turns ADD COLUMN stopping INTEGER NOT NULL DEFAULT 0;

ALTER TABLE conversations ADD COLUMN epoch INTEGER NOT NULL DEFAULT 0;
ALTER TABLE conversations ADD COLUMN summarised INTEGER NOT NULL DEFAULT 0;

CREATE TABLE summaries (
    conversation TEXT NOT NULL,
    epoch        INTEGER NOT NULL,
    upto         INTEGER NOT NULL,  -- stands for all messages up to this seq
    content      TEXT NOT NULL,
    by           TEXT NOT NULL,
    at_us        INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    usage        TEXT,  -- JSON
    created_at   TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06dZ', at_us % 1000000)) VIRTUAL,
    PRIMARY KEY (conversation, epoch)
) STRICT;

-- System prompts, each once however many turns were given it.
CREATE TABLE texts (
    digest TEXT PRIMARY KEY,
    text   TEXT NOT NULL
) STRICT;
