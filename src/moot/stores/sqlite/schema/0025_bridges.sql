-- Bridges to chat apps: chats and accounts they know, what came in and what goes out, who runs them.

CREATE TABLE bridge_chats (
    bridge TEXT NOT NULL,
    chat TEXT NOT NULL,
    kind TEXT NOT NULL,
    title TEXT NOT NULL,
    state TEXT NOT NULL,
    conversation TEXT NOT NULL,
    agents TEXT NOT NULL,
    listener TEXT NOT NULL,
    cursor INTEGER NOT NULL,
    planned INTEGER NOT NULL,
    explained INTEGER NOT NULL,
    paired_by TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    PRIMARY KEY (bridge, chat)
) STRICT, WITHOUT ROWID;
CREATE INDEX bridge_chats_conversation ON bridge_chats (conversation);

CREATE TABLE bridge_accounts (
    bridge TEXT NOT NULL,
    account TEXT NOT NULL,
    participant TEXT NOT NULL,
    shown TEXT NOT NULL,
    linked INTEGER NOT NULL,
    minute INTEGER NOT NULL,
    in_minute INTEGER NOT NULL,
    day INTEGER NOT NULL,
    in_day INTEGER NOT NULL,
    created_us INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    PRIMARY KEY (bridge, account)
) STRICT, WITHOUT ROWID;
CREATE INDEX bridge_accounts_participant ON bridge_accounts (participant);

CREATE TABLE arrivals (
    bridge TEXT NOT NULL,
    "key" TEXT NOT NULL,
    chat TEXT NOT NULL,
    account TEXT NOT NULL,
    state TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    text TEXT NOT NULL,
    tries INTEGER NOT NULL,
    error TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    PRIMARY KEY (bridge, "key")
) STRICT, WITHOUT ROWID;
CREATE INDEX arrivals_state ON arrivals (state);
CREATE INDEX arrivals_in ON arrivals (conversation);

CREATE TABLE bridge_posts (
    id TEXT NOT NULL,
    bridge TEXT NOT NULL,
    chat TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq INTEGER NOT NULL,
    place INTEGER NOT NULL,
    speaker TEXT NOT NULL,
    text TEXT NOT NULL,
    state TEXT NOT NULL,
    tries INTEGER NOT NULL,
    due REAL NOT NULL,
    external TEXT NOT NULL,
    reply_to TEXT NOT NULL,
    error TEXT NOT NULL,
    buttons TEXT NOT NULL,
    decision TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    updated_us INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    PRIMARY KEY (id)
) STRICT, WITHOUT ROWID;
CREATE INDEX bridge_posts_state ON bridge_posts (state);
CREATE INDEX bridge_posts_conversation ON bridge_posts (conversation);
CREATE INDEX bridge_posts_decision ON bridge_posts (decision);
CREATE INDEX bridge_posts_external ON bridge_posts (external);

CREATE TABLE bridge_leases (
    bridge TEXT NOT NULL,
    holder TEXT NOT NULL,
    until REAL NOT NULL,
    fence INTEGER NOT NULL,
    PRIMARY KEY (bridge)
) STRICT, WITHOUT ROWID;

CREATE TABLE pairing_codes (
    digest TEXT NOT NULL,
    bridge TEXT NOT NULL,
    "by" TEXT NOT NULL,
    until REAL NOT NULL,
    used_by TEXT NOT NULL,
    created_us INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    PRIMARY KEY (digest)
) STRICT, WITHOUT ROWID;
