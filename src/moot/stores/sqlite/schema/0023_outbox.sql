-- For a log outside, such as Kafka: what is to be told there, by whom, where, and what came back that made no sense.

-- What is still to be told to a log outside.
CREATE TABLE outbox (
    event        INTEGER NOT NULL,
    topic        TEXT NOT NULL,
    call         TEXT NOT NULL,
    conversation TEXT NOT NULL,
    action       TEXT NOT NULL,
    by           TEXT NOT NULL,
    at_us        INTEGER NOT NULL,
    seq          INTEGER NOT NULL,
    correlation  TEXT NOT NULL,
    tool         TEXT NOT NULL,
    PRIMARY KEY (event, topic, call)
) STRICT, WITHOUT ROWID;

-- Who publishes.
CREATE TABLE relays (
    name         TEXT NOT NULL,
    host         TEXT NOT NULL,
    fence        INTEGER NOT NULL,
    until_us     INTEGER NOT NULL,
    PRIMARY KEY (name)
) STRICT, WITHOUT ROWID;

-- Where the records of an agent go.
CREATE TABLE topics (
    agent        TEXT NOT NULL,
    name         TEXT NOT NULL,
    epoch        INTEGER NOT NULL,
    identity     TEXT NOT NULL,
    partitions   INTEGER NOT NULL,
    at_us        INTEGER NOT NULL,
    PRIMARY KEY (agent)
) STRICT, WITHOUT ROWID;

-- Records that made no sense.
CREATE TABLE dead_letters (
    slot         INTEGER NOT NULL,
    topic        TEXT NOT NULL,
    part         INTEGER NOT NULL,
    place        INTEGER NOT NULL,
    reason       TEXT NOT NULL,
    text         TEXT NOT NULL,
    at_us        INTEGER NOT NULL,
    PRIMARY KEY (slot)
) STRICT, WITHOUT ROWID;
