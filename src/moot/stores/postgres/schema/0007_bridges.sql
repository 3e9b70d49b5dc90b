-- Bridges to chat apps: chats and accounts they know, what came in and what goes out, who runs them.

CREATE TABLE bridge_chats (
    bridge text COLLATE "C" NOT NULL,
    chat text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    title text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    agents text COLLATE "C" NOT NULL,
    listener text COLLATE "C" NOT NULL,
    cursor bigint NOT NULL,
    planned bigint NOT NULL,
    explained bigint NOT NULL,
    paired_by text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    PRIMARY KEY (bridge, chat)
);
CREATE INDEX bridge_chats_conversation ON bridge_chats (conversation);

CREATE TABLE bridge_accounts (
    bridge text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    participant text COLLATE "C" NOT NULL,
    shown text COLLATE "C" NOT NULL,
    linked bigint NOT NULL,
    minute bigint NOT NULL,
    in_minute bigint NOT NULL,
    day bigint NOT NULL,
    in_day bigint NOT NULL,
    created_us bigint NOT NULL,
    PRIMARY KEY (bridge, account)
);
CREATE INDEX bridge_accounts_participant ON bridge_accounts (participant);

CREATE TABLE arrivals (
    bridge text COLLATE "C" NOT NULL,
    "key" text COLLATE "C" NOT NULL,
    chat text COLLATE "C" NOT NULL,
    account text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    tries bigint NOT NULL,
    error text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    PRIMARY KEY (bridge, "key")
);
CREATE INDEX arrivals_state ON arrivals (state);
CREATE INDEX arrivals_in ON arrivals (conversation);

CREATE TABLE bridge_posts (
    id text COLLATE "C" NOT NULL,
    bridge text COLLATE "C" NOT NULL,
    chat text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    place bigint NOT NULL,
    speaker text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    tries bigint NOT NULL,
    due double precision NOT NULL,
    external text COLLATE "C" NOT NULL,
    reply_to text COLLATE "C" NOT NULL,
    error text COLLATE "C" NOT NULL,
    buttons text COLLATE "C" NOT NULL,
    decision text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    PRIMARY KEY (id)
);
CREATE INDEX bridge_posts_state ON bridge_posts (state);
CREATE INDEX bridge_posts_conversation ON bridge_posts (conversation);
CREATE INDEX bridge_posts_decision ON bridge_posts (decision);
CREATE INDEX bridge_posts_external ON bridge_posts (external);

CREATE TABLE bridge_leases (
    bridge text COLLATE "C" NOT NULL,
    holder text COLLATE "C" NOT NULL,
    until double precision NOT NULL,
    fence bigint NOT NULL,
    PRIMARY KEY (bridge)
);

CREATE TABLE pairing_codes (
    digest text COLLATE "C" NOT NULL,
    bridge text COLLATE "C" NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    until double precision NOT NULL,
    used_by text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    PRIMARY KEY (digest)
);
