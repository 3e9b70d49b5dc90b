-- Why nothing is published for an agent to a log outside.

CREATE TABLE topic_troubles (
    agent        TEXT NOT NULL,
    topic        TEXT NOT NULL,
    kind         TEXT NOT NULL,
    reason       TEXT NOT NULL,
    at_us        INTEGER NOT NULL,
    PRIMARY KEY (agent)
) STRICT, WITHOUT ROWID;
