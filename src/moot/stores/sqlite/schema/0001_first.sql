-- The first schema. Names ending in _us hold whole microseconds since 1970, UTC; the column without that ending
-- beside them is the same moment as RFC 3339 text, made when read. JSON columns hold plain JSON text.

PRAGMA application_id = 0x4d6f6f74;  -- "Moot"

CREATE TABLE schema_version (
    version    INTEGER PRIMARY KEY,
    compat     INTEGER NOT NULL,  -- the oldest schema whose Moot can still read this one
    moot       TEXT NOT NULL,
    applied_at TEXT NOT NULL
) STRICT;

-- Ids are never given twice, even when their rows are gone; and how far the full-text index reaches.
CREATE TABLE counters (
    name  TEXT PRIMARY KEY,
    value INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
INSERT INTO counters (name, value) VALUES ('turn', 0), ('event', 0), ('indexed', 0);

-- Who talks. `participants` is the view over members that outsiders read.
CREATE TABLE registry (
    id          TEXT PRIMARY KEY,
    name        TEXT NOT NULL,
    kind        TEXT NOT NULL,
    aliases     TEXT NOT NULL,  -- JSON
    display     TEXT NOT NULL,
    role        TEXT NOT NULL,
    brain       TEXT NOT NULL,
    project     TEXT NOT NULL,
    paused      INTEGER NOT NULL,
    live_until  REAL NOT NULL,  -- of outside agents; an agent's presence is its host's lease
    host        TEXT,
    config      TEXT NOT NULL,  -- JSON
    created_us  INTEGER NOT NULL,
    last_active REAL NOT NULL,
    created_at  TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL
) STRICT, WITHOUT ROWID;

-- Every name a participant answers to: id, current name, old names.
CREATE TABLE aliases (
    name        TEXT NOT NULL,
    participant TEXT NOT NULL,
    PRIMARY KEY (name, participant)
) STRICT, WITHOUT ROWID;
CREATE INDEX aliases_of ON aliases (participant);

CREATE TABLE quotas (
    agent      TEXT PRIMARY KEY,
    hour       INTEGER NOT NULL,
    turns      INTEGER NOT NULL,
    roots      INTEGER NOT NULL,
    last_root  TEXT NOT NULL,
    last_hop   INTEGER NOT NULL,
    last_ended REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE hosts (
    id          TEXT PRIMARY KEY,
    pid         INTEGER NOT NULL,
    agents      TEXT NOT NULL,  -- JSON
    lease_until REAL NOT NULL,
    started_at  REAL NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE conversations (
    id               TEXT PRIMARY KEY,
    name             TEXT NOT NULL,
    kind             TEXT NOT NULL,
    created_us       INTEGER NOT NULL,
    updated_us       INTEGER NOT NULL,
    settings         TEXT NOT NULL,  -- JSON
    home             TEXT,
    next_seq         INTEGER NOT NULL,
    chain            TEXT NOT NULL,
    links            INTEGER NOT NULL,
    version          INTEGER NOT NULL,
    archived         INTEGER NOT NULL,
    key              TEXT NOT NULL,
    channel_type     TEXT NOT NULL,
    channel_group_id TEXT NOT NULL,
    last_human       INTEGER NOT NULL,
    pointer          TEXT,
    answered         INTEGER NOT NULL,
    stalled          INTEGER NOT NULL,
    blocked          TEXT NOT NULL,  -- JSON
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    updated_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', updated_us / 1000000, 'unixepoch') || printf('.%06dZ', updated_us % 1000000)) VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX conversations_by_name ON conversations (name) WHERE archived = 0;
CREATE UNIQUE INDEX conversations_by_key ON conversations (key) WHERE archived = 0 AND key <> '';

CREATE TABLE members (
    conversation TEXT NOT NULL,
    participant  TEXT NOT NULL,
    position     INTEGER NOT NULL,
    speaks       INTEGER NOT NULL,
    joined_us    INTEGER NOT NULL,
    joined_seq   INTEGER NOT NULL,
    cursor       INTEGER NOT NULL,
    mark         TEXT NOT NULL,
    streak       INTEGER NOT NULL,
    rested       INTEGER NOT NULL,
    said_at      REAL NOT NULL,
    cut          INTEGER NOT NULL,
    PRIMARY KEY (conversation, participant)
) STRICT, WITHOUT ROWID;

-- A rowid table with an index: inserting by text key into the tree itself costs more than twice as much.
CREATE TABLE messages (
    row          INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    sender       TEXT NOT NULL,
    kind         TEXT NOT NULL,
    content      TEXT NOT NULL,
    root         TEXT NOT NULL,
    hop          INTEGER NOT NULL,
    at_us        INTEGER NOT NULL,
    mentions     TEXT NOT NULL,  -- JSON
    reply_to     INTEGER NOT NULL,  -- seq, 0 = nothing
    intent       TEXT NOT NULL,
    version      INTEGER NOT NULL,
    turn         INTEGER,
    round        INTEGER NOT NULL,
    depth        INTEGER NOT NULL,
    metadata     TEXT NOT NULL,  -- JSON
    plan         TEXT NOT NULL,  -- JSON: the why-record
    key          TEXT NOT NULL,
    digest       TEXT NOT NULL,
    link         INTEGER NOT NULL,
    hash         TEXT NOT NULL,
    id           TEXT GENERATED ALWAYS AS (conversation || ':' || seq) VIRTUAL,
    created_at   TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06dZ', at_us % 1000000)) VIRTUAL,
    UNIQUE (conversation, seq)
) STRICT;
CREATE UNIQUE INDEX messages_by_key ON messages (sender, key) WHERE key <> '';

CREATE TABLE revisions (
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    version      INTEGER NOT NULL,
    was_hash     TEXT NOT NULL,
    text_hash    TEXT NOT NULL,
    by           TEXT NOT NULL,
    at_us        INTEGER NOT NULL,
    link         INTEGER NOT NULL,
    hash         TEXT NOT NULL,
    created_at   TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06dZ', at_us % 1000000)) VIRTUAL,
    PRIMARY KEY (conversation, seq, version)
) STRICT, WITHOUT ROWID;

CREATE TABLE turns (
    id           INTEGER PRIMARY KEY,
    agent        TEXT NOT NULL,
    conversation TEXT NOT NULL,
    duty         TEXT NOT NULL,
    reason       TEXT NOT NULL,
    state        TEXT NOT NULL,
    calls        TEXT NOT NULL,  -- JSON
    created_us   INTEGER NOT NULL,
    round        INTEGER NOT NULL,
    place        INTEGER NOT NULL,
    lo           INTEGER NOT NULL,
    hi           INTEGER NOT NULL,
    shared       INTEGER NOT NULL,
    late         INTEGER NOT NULL,
    resumed      INTEGER NOT NULL,
    interrupted  INTEGER NOT NULL,
    cause        INTEGER NOT NULL,
    root         TEXT NOT NULL,
    hop          INTEGER NOT NULL,
    depth        INTEGER NOT NULL,
    charged      TEXT NOT NULL,  -- JSON
    due          REAL NOT NULL,
    lease        REAL NOT NULL,
    deadline     REAL NOT NULL,
    "limit"      REAL NOT NULL,
    host         TEXT,
    fence        INTEGER NOT NULL,
    attempt      INTEGER NOT NULL,
    posts        INTEGER NOT NULL,
    started_at   REAL NOT NULL,
    ended_at     REAL NOT NULL,
    message      INTEGER NOT NULL,
    rule         TEXT,
    error        TEXT NOT NULL,
    kept         TEXT NOT NULL,
    usage        TEXT,  -- JSON
    created_at   TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL
) STRICT;
CREATE INDEX turns_open ON turns (conversation) WHERE state IN ('waiting', 'ready', 'held', 'owed', 'running');
CREATE INDEX turns_ended ON turns (conversation) WHERE state IN ('said', 'passed', 'failed', 'expired', 'cancelled');
CREATE INDEX turns_by_agent ON turns (agent, state) WHERE state IN ('waiting', 'ready', 'held', 'owed', 'running');
CREATE INDEX turns_due ON turns (due) WHERE due > 0 AND state IN ('waiting', 'ready', 'held', 'owed', 'running');

CREATE TABLE rounds (
    conversation TEXT NOT NULL,
    opener       INTEGER NOT NULL,
    root         TEXT NOT NULL,
    hop          INTEGER NOT NULL,
    human        INTEGER NOT NULL,
    polls        INTEGER NOT NULL,
    cap          INTEGER NOT NULL,
    state        TEXT NOT NULL,
    used         INTEGER NOT NULL,
    line         TEXT NOT NULL,  -- JSON
    blocked      TEXT NOT NULL,  -- JSON
    places       INTEGER NOT NULL,
    overridden   INTEGER NOT NULL,
    asked        TEXT NOT NULL,  -- JSON
    reacted      TEXT NOT NULL,  -- JSON
    polled       INTEGER NOT NULL,
    volunteers   INTEGER NOT NULL,
    utterances   TEXT NOT NULL,  -- JSON
    notes        TEXT NOT NULL,  -- JSON
    shared_hi    INTEGER NOT NULL,
    shared_human INTEGER NOT NULL,
    PRIMARY KEY (conversation, opener)
) STRICT;
CREATE INDEX rounds_open ON rounds (conversation, opener) WHERE state IN ('queued', 'running');

CREATE TABLE roots (
    id       TEXT PRIMARY KEY,
    turns    INTEGER NOT NULL,
    base_hop INTEGER NOT NULL,
    paused   TEXT,
    noticed  TEXT NOT NULL,  -- JSON
    tails    TEXT NOT NULL   -- JSON
) STRICT;

CREATE TABLE pairs (
    sender   TEXT NOT NULL,
    receiver TEXT NOT NULL,
    level    INTEGER NOT NULL,
    last     REAL NOT NULL,
    due      REAL NOT NULL,
    sent     TEXT NOT NULL,  -- JSON
    PRIMARY KEY (sender, receiver)
) STRICT, WITHOUT ROWID;

CREATE TABLE events (
    id           INTEGER PRIMARY KEY,
    type         TEXT NOT NULL,
    at_us        INTEGER NOT NULL,
    conversation TEXT,
    by           TEXT,
    seq          INTEGER NOT NULL,
    turn         TEXT,  -- JSON: the turn as it was then
    body         TEXT,  -- JSON
    topic        TEXT,  -- where a relay publishes it
    at           TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06dZ', at_us % 1000000)) VIRTUAL
) STRICT;

-- Full text. Holds no copy of the messages; the writer catches it up, see sql/search.sql.
CREATE VIRTUAL TABLE message_words USING fts5 (
    content, content = 'messages', content_rowid = 'row', tokenize = 'unicode61 remove_diacritics 2'
);

CREATE VIEW participants AS
SELECT m.conversation, r.name, r.kind,
       strftime('%Y-%m-%dT%H:%M:%S', m.joined_us / 1000000, 'unixepoch') || printf('.%06dZ', m.joined_us % 1000000) AS joined_at,
       m.cursor, m.participant AS id, m.position
FROM members m JOIN registry r ON r.id = m.participant
ORDER BY m.conversation, m.position;
