-- For a log outside, such as Kafka: what is to be told there, by whom, where, and what came back that made no sense.

-- What is still to be told to a log outside.
CREATE TABLE outbox (
    event        bigint NOT NULL,
    topic        text COLLATE "C" NOT NULL,
    call         text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    action       text COLLATE "C" NOT NULL,
    by           text COLLATE "C" NOT NULL,
    at_us        bigint NOT NULL,
    seq          bigint NOT NULL,
    correlation  text COLLATE "C" NOT NULL,
    tool         text COLLATE "C" NOT NULL,
    PRIMARY KEY (event, topic, call)
);

-- Who publishes.
CREATE TABLE relays (
    name         text COLLATE "C" NOT NULL,
    host         text COLLATE "C" NOT NULL,
    fence        bigint NOT NULL,
    until_us     bigint NOT NULL,
    PRIMARY KEY (name)
);

-- Where the records of an agent go.
CREATE TABLE topics (
    agent        text COLLATE "C" NOT NULL,
    name         text COLLATE "C" NOT NULL,
    epoch        bigint NOT NULL,
    identity     text COLLATE "C" NOT NULL,
    partitions   bigint NOT NULL,
    at_us        bigint NOT NULL,
    PRIMARY KEY (agent)
);

-- Records that made no sense.
CREATE TABLE dead_letters (
    slot         bigint NOT NULL,
    topic        text COLLATE "C" NOT NULL,
    part         bigint NOT NULL,
    place        bigint NOT NULL,
    reason       text COLLATE "C" NOT NULL,
    text         text COLLATE "C" NOT NULL,
    at_us        bigint NOT NULL,
    PRIMARY KEY (slot)
);
