-- Sessions of coding CLIs, one per agent and conversation; and what agents spend, by agent and day, by chain, by day.

CREATE TABLE cli_sessions (
    agent text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    driver text COLLATE "C" NOT NULL,
    session text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    version text COLLATE "C" NOT NULL,
    brief text COLLATE "C" NOT NULL,
    turn bigint NOT NULL,
    reached bigint NOT NULL,
    open bigint NOT NULL,
    cost_usd double precision NOT NULL,
    grants text COLLATE "C" NOT NULL,
    updated_us bigint NOT NULL,
    PRIMARY KEY (agent, conversation)
);

CREATE INDEX cli_sessions_in ON cli_sessions (conversation);

CREATE TABLE spending (
    kind text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    cost_usd double precision NOT NULL,
    tokens bigint NOT NULL,
    turns bigint NOT NULL,
    unpriced bigint NOT NULL,
    last_usd double precision NOT NULL,
    last_tokens bigint NOT NULL,
    updated_us bigint NOT NULL,
    PRIMARY KEY (kind, subject, day)
);

CREATE INDEX spending_of ON spending (subject);
