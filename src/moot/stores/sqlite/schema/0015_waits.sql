-- Agents that wait for the answer of another: a wait that would close a ring is refused.

CREATE TABLE waits (
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,
    asker        TEXT NOT NULL,
    target       TEXT NOT NULL,
    until        REAL NOT NULL,
    PRIMARY KEY (conversation, seq)
) STRICT, WITHOUT ROWID;
