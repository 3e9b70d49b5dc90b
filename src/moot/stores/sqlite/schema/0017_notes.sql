-- Shared notes: the newest version of each with its text, every version, and which agents may read or write them.

CREATE TABLE notes (
    name       TEXT PRIMARY KEY,
    text       TEXT NOT NULL,
    version    INTEGER NOT NULL,
    hash       TEXT NOT NULL,
    created_by TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    updated_by TEXT NOT NULL,
    updated_us INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    updated_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', updated_us / 1000000, 'unixepoch') || printf('.%06dZ', updated_us % 1000000)) VIRTUAL
) STRICT;

-- Each hash covers the one before it: a changed, missing or inserted version breaks the chain.
CREATE TABLE note_versions (
    note    TEXT NOT NULL,
    version INTEGER NOT NULL,
    text    TEXT NOT NULL,
    by      TEXT NOT NULL,
    at_us   INTEGER NOT NULL,
    hash    TEXT NOT NULL,
    at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06dZ', at_us % 1000000)) VIRTUAL,
    PRIMARY KEY (note, version)
) STRICT;

CREATE TABLE note_permissions (
    note        TEXT NOT NULL,
    participant TEXT NOT NULL,
    access      TEXT NOT NULL,  -- read | read_write
    by          TEXT NOT NULL,
    at_us       INTEGER NOT NULL,
    at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06dZ', at_us % 1000000)) VIRTUAL,
    PRIMARY KEY (note, participant)
) STRICT, WITHOUT ROWID;
CREATE INDEX notes_of_a_participant ON note_permissions (participant);
