-- How far a supervisor has been shown the log.

CREATE TABLE watch_positions (
    agent        text COLLATE "C" NOT NULL,
    event        bigint NOT NULL,
    at_us        bigint NOT NULL,
    PRIMARY KEY (agent)
);
