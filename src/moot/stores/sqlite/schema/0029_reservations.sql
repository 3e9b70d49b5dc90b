-- What turns under way have set aside of their budgets, and what a person has allowed beyond one.

CREATE TABLE reservations (
    turn         INTEGER PRIMARY KEY,
    conversation TEXT NOT NULL,
    agent        TEXT NOT NULL,
    root         TEXT NOT NULL,
    day          INTEGER NOT NULL,  -- since 1970
    above        TEXT NOT NULL,
    usd          REAL NOT NULL,
    tokens       INTEGER NOT NULL,
    alone        INTEGER NOT NULL,
    until        REAL NOT NULL
) STRICT;
CREATE INDEX reservations_in ON reservations (conversation);

ALTER TABLE turns ADD COLUMN reserved INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN raised_usd REAL NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN raised_tokens INTEGER NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN begun INTEGER NOT NULL DEFAULT 0;
