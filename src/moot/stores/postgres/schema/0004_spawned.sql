-- Agents that were started by others: who started whom, from which template, and until when.

CREATE TABLE spawned (
    agent text COLLATE "C" NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    template text COLLATE "C" NOT NULL,
    depth bigint NOT NULL,
    project text COLLATE "C" NOT NULL,
    root text COLLATE "C" NOT NULL,
    asked_in text COLLATE "C" NOT NULL,
    until double precision NOT NULL,
    idle_seconds double precision NOT NULL,
    key text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    ended_at double precision NOT NULL,
    ending text COLLATE "C" NOT NULL,
    PRIMARY KEY (agent)
);
