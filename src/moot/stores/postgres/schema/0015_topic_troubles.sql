-- Why nothing is published for an agent to a log outside.

CREATE TABLE topic_troubles (
    agent        text COLLATE "C" NOT NULL,
    topic        text COLLATE "C" NOT NULL,
    kind         text COLLATE "C" NOT NULL,
    reason       text COLLATE "C" NOT NULL,
    at_us        bigint NOT NULL,
    PRIMARY KEY (agent)
);
