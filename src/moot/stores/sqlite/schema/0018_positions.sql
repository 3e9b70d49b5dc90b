-- Where people have put somebody on the map of agents and links.

CREATE TABLE positions (
    participant TEXT PRIMARY KEY,
    x           REAL NOT NULL,
    y           REAL NOT NULL,
    by          TEXT NOT NULL,
    at_us       INTEGER NOT NULL,
    at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', at_us / 1000000, 'unixepoch') || printf('.%06dZ', at_us % 1000000)) VIRTUAL
) STRICT, WITHOUT ROWID;
