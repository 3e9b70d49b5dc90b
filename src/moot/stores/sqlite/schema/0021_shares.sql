-- Who has which part of what several hosts could do.

CREATE TABLE shares (
    grp   TEXT NOT NULL,  -- agent-ID | config
    part  INTEGER NOT NULL,
    host  TEXT NOT NULL,
    fence INTEGER NOT NULL,
    until REAL NOT NULL,  -- 0: given back
    place TEXT NOT NULL,
    PRIMARY KEY (grp, part)
) STRICT, WITHOUT ROWID;
