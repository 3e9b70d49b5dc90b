-- The link graph: who may speak to whom, who stands above whom. One row per pair, whichever way round it is written.
-- The counter moves with every change, so that whoever keeps the graph at hand knows when to read it again.

CREATE TABLE agent_links (
    id           TEXT PRIMARY KEY,
    source       TEXT NOT NULL,
    target       TEXT NOT NULL,
    direction    TEXT NOT NULL,
    relationship TEXT NOT NULL,  -- what source is of target
    wanted       INTEGER NOT NULL,
    switched_off INTEGER NOT NULL,
    origin       TEXT NOT NULL,
    place        TEXT NOT NULL,
    created_us   INTEGER NOT NULL,
    updated_us   INTEGER NOT NULL,
    created_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', created_us / 1000000, 'unixepoch') || printf('.%06dZ', created_us % 1000000)) VIRTUAL,
    updated_at TEXT GENERATED ALWAYS AS (strftime('%Y-%m-%dT%H:%M:%S', updated_us / 1000000, 'unixepoch') || printf('.%06dZ', updated_us % 1000000)) VIRTUAL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX links_of_a_pair ON agent_links (min(source, target), max(source, target));

INSERT INTO counters (name, value) VALUES ('links', 0);

-- Of each chain, how many messages agents have said on it.
ALTER TABLE roots ADD COLUMN messages INTEGER NOT NULL DEFAULT 0;

-- What people read: names of the ends, and whether it is on.
CREATE VIEW links AS
SELECT l.id, s.name AS "from", t.name AS "to", l.direction, l.relationship,
       l.wanted AND NOT l.switched_off AS enabled, l.origin, l.created_at, l.updated_at
FROM agent_links l JOIN registry s ON s.id = l.source JOIN registry t ON t.id = l.target;
