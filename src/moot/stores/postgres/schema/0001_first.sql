-- The first schema on PostgreSQL: the tables of docs/reference/database.md, with the columns SQLite has. Names ending in _us hold
-- whole microseconds since 1970, UTC; JSON is kept as the text that was written. Texts compare by their bytes, as they do there.

CREATE TABLE counters (
    name text COLLATE "C" NOT NULL,
    value bigint NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE registry (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    aliases text COLLATE "C" NOT NULL,
    display text COLLATE "C" NOT NULL,
    role text COLLATE "C" NOT NULL,
    brain text COLLATE "C" NOT NULL,
    project text COLLATE "C" NOT NULL,
    paused bigint NOT NULL,
    live_until double precision NOT NULL,
    host text COLLATE "C",
    config text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    last_active double precision NOT NULL,
    door text COLLATE "C" NOT NULL,
    reach text COLLATE "C" NOT NULL,
    reach_until double precision NOT NULL,
    removed_at double precision NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE aliases (
    name text COLLATE "C" NOT NULL,
    participant text COLLATE "C" NOT NULL,
    PRIMARY KEY (name, participant)
);

CREATE INDEX aliases_of ON aliases (participant);

CREATE TABLE quotas (
    agent text COLLATE "C" NOT NULL,
    hour bigint NOT NULL,
    turns bigint NOT NULL,
    roots bigint NOT NULL,
    last_root text COLLATE "C" NOT NULL,
    last_hop bigint NOT NULL,
    last_ended double precision NOT NULL,
    PRIMARY KEY (agent)
);

CREATE TABLE hosts (
    id text COLLATE "C" NOT NULL,
    pid bigint NOT NULL,
    agents text COLLATE "C" NOT NULL,
    lease_until double precision NOT NULL,
    started_at double precision NOT NULL,
    socket text COLLATE "C" NOT NULL,
    watches bigint NOT NULL,
    machine text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE conversations (
    id text COLLATE "C" NOT NULL,
    name text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    settings text COLLATE "C" NOT NULL,
    home text COLLATE "C",
    next_seq bigint NOT NULL,
    chain text COLLATE "C" NOT NULL,
    chain_length bigint NOT NULL,
    version bigint NOT NULL,
    archived bigint NOT NULL,
    key text COLLATE "C" NOT NULL,
    channel_type text COLLATE "C" NOT NULL,
    channel_group_id text COLLATE "C" NOT NULL,
    last_human bigint NOT NULL,
    pointer text COLLATE "C",
    answered bigint NOT NULL,
    stalled bigint NOT NULL,
    blocked text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    summarised bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX conversations_by_name ON conversations (name) WHERE archived = 0;

CREATE UNIQUE INDEX conversations_by_key ON conversations (key) WHERE archived = 0 AND key <> '';

CREATE TABLE members (
    conversation text COLLATE "C" NOT NULL,
    participant text COLLATE "C" NOT NULL,
    position bigint NOT NULL,
    speaks bigint NOT NULL,
    joined_us bigint NOT NULL,
    joined_seq bigint NOT NULL,
    cursor bigint NOT NULL,
    mark text COLLATE "C" NOT NULL,
    streak bigint NOT NULL,
    rested bigint NOT NULL,
    said_at double precision NOT NULL,
    cut bigint NOT NULL,
    PRIMARY KEY (conversation, participant)
);

CREATE INDEX members_of ON members (participant, conversation);

CREATE TABLE messages (
    number bigint NOT NULL,  -- rises with every transaction that appends
    conversation text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    sender text COLLATE "C" NOT NULL,
    kind text COLLATE "C" NOT NULL,
    content text COLLATE "C" NOT NULL,
    root text COLLATE "C" NOT NULL,
    hop bigint NOT NULL,
    at_us bigint NOT NULL,
    mentions text COLLATE "C" NOT NULL,
    reply_to bigint NOT NULL,
    intent text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    turn bigint,
    round bigint NOT NULL,
    depth bigint NOT NULL,
    metadata text COLLATE "C" NOT NULL,
    plan text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    chain_place bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    said text COLLATE "C" NOT NULL,    -- the words of the content, as a search knows them, with a space around each
    traits text COLLATE "C" NOT NULL,  -- what else a search may ask for, as made-up words: see search.py
    PRIMARY KEY (number),
    UNIQUE (conversation, seq)
);

CREATE UNIQUE INDEX messages_by_key ON messages (sender, key) WHERE key <> '';
CREATE INDEX messages_searched ON messages USING gin (string_to_array(said || traits, ' '));
CREATE INDEX messages_at ON messages (at_us);

CREATE TABLE revisions (
    conversation text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    version bigint NOT NULL,
    was_hash text COLLATE "C" NOT NULL,
    text_hash text COLLATE "C" NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    at_us bigint NOT NULL,
    chain_place bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (conversation, seq, version)
);

CREATE TABLE turns (
    id bigint NOT NULL,
    agent text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    duty text COLLATE "C" NOT NULL,
    reason text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    calls text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    round bigint NOT NULL,
    place bigint NOT NULL,
    lo bigint NOT NULL,
    hi bigint NOT NULL,
    shared bigint NOT NULL,
    late bigint NOT NULL,
    resumed bigint NOT NULL,
    interrupted bigint NOT NULL,
    cause bigint NOT NULL,
    root text COLLATE "C" NOT NULL,
    hop bigint NOT NULL,
    depth bigint NOT NULL,
    charged text COLLATE "C" NOT NULL,
    due double precision NOT NULL,
    lease double precision NOT NULL,
    deadline double precision NOT NULL,
    "limit" double precision NOT NULL,
    host text COLLATE "C",
    fence bigint NOT NULL,
    attempt bigint NOT NULL,
    posts bigint NOT NULL,
    started_at double precision NOT NULL,
    ended_at double precision NOT NULL,
    message bigint NOT NULL,
    rule text COLLATE "C",
    error text COLLATE "C" NOT NULL,
    kept text COLLATE "C" NOT NULL,
    usage text COLLATE "C",
    steps text COLLATE "C" NOT NULL,
    given text COLLATE "C",
    stopping bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX turns_open ON turns (conversation, id) WHERE state IN ('waiting', 'ready', 'held', 'owed', 'running');

CREATE INDEX turns_ended ON turns (conversation, id) WHERE state IN ('said', 'passed', 'failed', 'expired', 'cancelled');

CREATE INDEX turns_by_agent ON turns (agent, state) WHERE state IN ('waiting', 'ready', 'held', 'owed', 'running');

CREATE INDEX turns_due ON turns (due) WHERE due > 0 AND state IN ('waiting', 'ready', 'held', 'owed', 'running');

CREATE TABLE rounds (
    conversation text COLLATE "C" NOT NULL,
    opener bigint NOT NULL,
    root text COLLATE "C" NOT NULL,
    hop bigint NOT NULL,
    human bigint NOT NULL,
    polls bigint NOT NULL,
    cap bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    used bigint NOT NULL,
    line text COLLATE "C" NOT NULL,
    blocked text COLLATE "C" NOT NULL,
    places bigint NOT NULL,
    overridden bigint NOT NULL,
    asked text COLLATE "C" NOT NULL,
    reacted text COLLATE "C" NOT NULL,
    polled bigint NOT NULL,
    volunteers bigint NOT NULL,
    utterances text COLLATE "C" NOT NULL,
    notes text COLLATE "C" NOT NULL,
    shared_hi bigint NOT NULL,
    shared_human bigint NOT NULL,
    PRIMARY KEY (conversation, opener)
);

CREATE INDEX rounds_open ON rounds (conversation, opener) WHERE state IN ('queued', 'running');

CREATE TABLE roots (
    id text COLLATE "C" NOT NULL,
    turns bigint NOT NULL,
    base_hop bigint NOT NULL,
    paused text COLLATE "C",
    noticed text COLLATE "C" NOT NULL,
    tails text COLLATE "C" NOT NULL,
    messages bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE TABLE pairs (
    sender text COLLATE "C" NOT NULL,
    receiver text COLLATE "C" NOT NULL,
    level bigint NOT NULL,
    last double precision NOT NULL,
    due double precision NOT NULL,
    sent text COLLATE "C" NOT NULL,
    PRIMARY KEY (sender, receiver)
);

CREATE TABLE events (
    id bigint NOT NULL,
    type text COLLATE "C" NOT NULL,
    at_us bigint NOT NULL,
    conversation text COLLATE "C",
    "by" text COLLATE "C",
    seq bigint NOT NULL,
    turn text COLLATE "C",
    body text COLLATE "C",
    topic text COLLATE "C",
    PRIMARY KEY (id)
);

CREATE TABLE instance (
    name text COLLATE "C" NOT NULL,
    value text COLLATE "C" NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE summaries (
    conversation text COLLATE "C" NOT NULL,
    epoch bigint NOT NULL,
    upto bigint NOT NULL,
    content text COLLATE "C" NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    at_us bigint NOT NULL,
    version bigint NOT NULL,
    usage text COLLATE "C",
    PRIMARY KEY (conversation, epoch)
);

CREATE TABLE texts (
    digest text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    PRIMARY KEY (digest)
);

CREATE TABLE tokens (
    id text COLLATE "C" NOT NULL,
    participant text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL UNIQUE,
    scopes text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    used_at double precision NOT NULL,
    revoked_at double precision NOT NULL,
    parent text COLLATE "C" NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX tokens_of ON tokens (participant);

CREATE TABLE bookmarks (
    participant text COLLATE "C" NOT NULL,
    client text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    frames bigint NOT NULL,
    used_at double precision NOT NULL,
    PRIMARY KEY (participant, client, conversation)
);

CREATE INDEX bookmarks_in ON bookmarks (conversation);

CREATE TABLE agent_links (
    id text COLLATE "C" NOT NULL,
    source text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    direction text COLLATE "C" NOT NULL,
    relationship text COLLATE "C" NOT NULL,
    wanted bigint NOT NULL,
    switched_off bigint NOT NULL,
    origin text COLLATE "C" NOT NULL,
    place text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE UNIQUE INDEX links_of_a_pair ON agent_links (least(source, target), greatest(source, target));

CREATE TABLE tasks (
    id text COLLATE "C" NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    "to" text COLLATE "C" NOT NULL,
    task text COLLATE "C" NOT NULL,
    state text COLLATE "C" NOT NULL,
    result text COLLATE "C" NOT NULL,
    note text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    channel text COLLATE "C" NOT NULL,
    asked_in text COLLATE "C" NOT NULL,
    link text COLLATE "C" NOT NULL,
    root text COLLATE "C" NOT NULL,
    hop bigint NOT NULL,
    deadline double precision NOT NULL,
    kept_by bigint NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    chain text COLLATE "C" NOT NULL,
    chain_length bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX tasks_in ON tasks (conversation);

CREATE INDEX tasks_over ON tasks (link) WHERE link <> '';

CREATE INDEX tasks_by ON tasks ("by");

CREATE INDEX tasks_to ON tasks ("to");

CREATE INDEX tasks_in_state ON tasks (state);

CREATE INDEX tasks_due ON tasks (deadline) WHERE deadline > 0 AND state IN ('open', 'working');

CREATE TABLE waits (
    conversation text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    asker text COLLATE "C" NOT NULL,
    target text COLLATE "C" NOT NULL,
    until double precision NOT NULL,
    PRIMARY KEY (conversation, seq)
);

CREATE TABLE decisions (
    id text COLLATE "C" NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    "to" text COLLATE "C" NOT NULL,
    question text COLLATE "C" NOT NULL,
    choices text COLLATE "C" NOT NULL,
    conversation text COLLATE "C" NOT NULL,
    seq bigint NOT NULL,
    state text COLLATE "C" NOT NULL,
    answer text COLLATE "C" NOT NULL,
    answer_seq bigint NOT NULL,
    until double precision NOT NULL,
    created_us bigint NOT NULL,
    updated_us bigint NOT NULL,
    PRIMARY KEY (id)
);

CREATE INDEX decisions_to ON decisions ("to");

CREATE INDEX decisions_by ON decisions ("by");

CREATE INDEX decisions_in ON decisions (conversation);

CREATE TABLE notes (
    name text COLLATE "C" NOT NULL,
    text text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    created_by text COLLATE "C" NOT NULL,
    created_us bigint NOT NULL,
    updated_by text COLLATE "C" NOT NULL,
    updated_us bigint NOT NULL,
    PRIMARY KEY (name)
);

CREATE TABLE note_versions (
    note text COLLATE "C" NOT NULL,
    version bigint NOT NULL,
    text text COLLATE "C" NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    at_us bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (note, version)
);

CREATE TABLE note_permissions (
    note text COLLATE "C" NOT NULL,
    participant text COLLATE "C" NOT NULL,
    access text COLLATE "C" NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    at_us bigint NOT NULL,
    PRIMARY KEY (note, participant)
);

CREATE INDEX notes_of_a_participant ON note_permissions (participant);

CREATE TABLE positions (
    participant text COLLATE "C" NOT NULL,
    x double precision NOT NULL,
    y double precision NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    at_us bigint NOT NULL,
    PRIMARY KEY (participant)
);

CREATE TABLE audit_entries (
    chain text COLLATE "C" NOT NULL,  -- acts | refusals:AGENT | task:TASK
    place bigint NOT NULL,
    at_us bigint NOT NULL,
    "by" text COLLATE "C" NOT NULL,
    on_behalf_of text COLLATE "C" NOT NULL,
    door text COLLATE "C" NOT NULL,
    act text COLLATE "C" NOT NULL,
    subject text COLLATE "C" NOT NULL,
    detail text COLLATE "C" NOT NULL,
    digest text COLLATE "C" NOT NULL,
    count bigint NOT NULL,
    last_us bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    PRIMARY KEY (chain, place)
);

CREATE INDEX audit_entries_by_time ON audit_entries (last_us);

CREATE INDEX audit_entries_by_subject ON audit_entries (subject);

CREATE TABLE chain_heads (
    chain text COLLATE "C" NOT NULL,
    length bigint NOT NULL,
    hash text COLLATE "C" NOT NULL,
    before text COLLATE "C" NOT NULL,
    newest text COLLATE "C",
    sealed bigint NOT NULL,
    digest text COLLATE "C" NOT NULL,
    PRIMARY KEY (chain)
);

INSERT INTO counters (name, value) VALUES ('base', 0), ('links', 0), ('horizon', 0);
INSERT INTO instance (name, value) VALUES
    ('id', left(replace(gen_random_uuid()::text, '-', ''), 16)), ('secret', replace(gen_random_uuid()::text, '-', ''));

-- A moment as people read it.
CREATE FUNCTION rfc3339(us bigint) RETURNS text LANGUAGE sql STABLE AS $$
    SELECT to_char(to_timestamp(us / 1000000) AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS')
        || '.' || lpad((us % 1000000)::text, 6, '0') || 'Z'
$$;

CREATE VIEW participants AS
SELECT m.conversation, r.name, r.kind, rfc3339(m.joined_us) AS joined_at, m.cursor, m.participant AS id, m.position
FROM members m JOIN registry r ON r.id = m.participant
ORDER BY m.conversation, m.position;

CREATE VIEW links AS
SELECT l.id, s.name AS "from", t.name AS "to", l.direction, l.relationship,
       (l.wanted <> 0 AND l.switched_off = 0) AS enabled, l.origin, rfc3339(l.created_us) AS created_at,
       rfc3339(l.updated_us) AS updated_at
FROM agent_links l JOIN registry s ON s.id = l.source JOIN registry t ON t.id = l.target;

CREATE VIEW nodes AS
SELECT c.id AS id, NULL AS parent, c.id AS conversation, 0 AS seq, '' AS context, '' AS content, c.version AS version,
       rfc3339(c.created_us) AS created_at
FROM conversations c
UNION ALL
SELECT m.conversation || ':' || m.seq, m.conversation, m.conversation, m.seq, 'text:agent:' || m.sender, m.content,
       m.version, rfc3339(m.at_us)
FROM messages m
UNION ALL
SELECT s.conversation || ':s' || s.epoch, s.conversation, s.conversation, s.upto, 'summary:agent:' || s.by, s.content,
       s.version, rfc3339(s.at_us)
FROM summaries s;

-- Behind the newest event that may be handed out: all transactions with a smaller number have ended. These functions are
-- written in plpgsql because a session keeps the plans of those.
CREATE FUNCTION events_end() RETURNS bigint LANGUAGE plpgsql STABLE AS $$ BEGIN
    RETURN (SELECT (pg_snapshot_xmin(pg_current_snapshot())::text::bigint + value) << 16 FROM counters WHERE name = 'base');
END $$;

-- Which conversations are meant by ids or names, by names alone, by turns, by whose running turns; and where the end of a task
-- is told that is worked on in one of them.
CREATE FUNCTION conversations_meant(refs text[], names text[], numbers bigint[], agents text[]) RETURNS SETOF text
LANGUAGE plpgsql STABLE AS $$ BEGIN
    RETURN QUERY WITH RECURSIVE here(id) AS (
        (
            SELECT c.id FROM conversations c WHERE c.id = ANY(refs)
            UNION SELECT c.id FROM conversations c WHERE c.name = ANY(names) AND c.archived = 0
            UNION SELECT c.id FROM conversations c WHERE c.key = ANY(names) AND c.archived = 0 AND c.key <> ''
            UNION SELECT t.conversation FROM turns t WHERE t.id = ANY(numbers)
            UNION SELECT t.conversation FROM turns t WHERE t.agent = ANY(agents) AND t.state = 'running'
                  AND t.state IN ('waiting', 'ready', 'held', 'owed', 'running')
        )
        UNION
        SELECT w.id FROM here h JOIN conversations c ON c.id = h.id AND c.kind = 'task'
        JOIN tasks k ON k.conversation = h.id CROSS JOIN LATERAL (VALUES (k.channel), (k.asked_in)) w(id)
        WHERE w.id <> ''
    )
    SELECT here.id FROM here;
END $$;
