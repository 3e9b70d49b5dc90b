-- How far a supervisor has been shown the log.

CREATE TABLE watch_positions (
    agent        TEXT NOT NULL,
    event        INTEGER NOT NULL,
    at_us        INTEGER NOT NULL,
    PRIMARY KEY (agent)
) STRICT, WITHOUT ROWID;
