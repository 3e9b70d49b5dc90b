-- Work that was delegated: its state, where it is worked on, where its end is reported.

CREATE TABLE tasks (
    id           TEXT PRIMARY KEY,
    "by"         TEXT NOT NULL,
    "to"         TEXT NOT NULL,
    task         TEXT NOT NULL,
    state        TEXT NOT NULL,
    result       TEXT NOT NULL,
    note         TEXT NOT NULL,
    conversation TEXT NOT NULL,
    channel      TEXT NOT NULL,
    asked_in     TEXT NOT NULL,
    link         TEXT NOT NULL,
    root         TEXT NOT NULL,
    hop          INTEGER NOT NULL,
    deadline     REAL NOT NULL,
    kept_by      INTEGER NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    updated_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', updated_us / 1000000, 'unixepoch') || printf('.%06dZ', updated_us % 1000000)) VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE INDEX tasks_in ON tasks (conversation);
CREATE INDEX tasks_over ON tasks (link) WHERE link <> '';
CREATE INDEX tasks_by ON tasks ("by");
CREATE INDEX tasks_to ON tasks ("to");
CREATE INDEX tasks_in_state ON tasks (state);
CREATE INDEX tasks_due ON tasks (deadline) WHERE deadline > 0 AND state IN ('open', 'working');
