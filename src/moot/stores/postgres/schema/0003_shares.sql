-- Who has which part of what several hosts could do.

CREATE TABLE shares (
    grp text COLLATE "C" NOT NULL,  -- agent-ID | config
    part bigint NOT NULL,
    host text COLLATE "C" NOT NULL,
    fence bigint NOT NULL,
    until double precision NOT NULL,  -- 0: given back
    place text COLLATE "C" NOT NULL,
    PRIMARY KEY (grp, part)
);
