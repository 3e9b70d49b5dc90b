-- What a batch writes: one statement per table, run once for each dirty row.

-- name: append_message
-- A new message.
INSERT INTO messages (
    conversation, seq, sender, kind, content, root, hop, at_us, mentions, reply_to, intent, version, turn, round,
    depth, metadata, plan, key, digest, chain_place, hash, number, said, traits
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24);

-- name: revise_message
-- An edited or deleted message; its address stays.
UPDATE messages SET
    sender = $3, kind = $4, content = $5, root = $6, hop = $7, at_us = $8, mentions = $9, reply_to = $10,
    intent = $11, version = $12, turn = $13, round = $14, depth = $15, metadata = $16, plan = $17, key = $18,
    digest = $19, chain_place = $20, hash = $21, said = $22, traits = $23
WHERE conversation = $1 AND seq = $2;

-- name: append_revision
-- The record of an edit or delete.
INSERT INTO revisions (conversation, seq, version, was_hash, text_hash, by, at_us, chain_place, hash)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9);

-- name: put_conversation
-- A conversation, new or changed.
INSERT INTO conversations (
    id, name, kind, created_us, updated_us, settings, home, next_seq, chain, chain_length, version, archived, key,
    channel_type, channel_group_id, last_human, pointer, answered, stalled, blocked, epoch, summarised
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, kind = excluded.kind, created_us = excluded.created_us,
    updated_us = excluded.updated_us, settings = excluded.settings, home = excluded.home,
    next_seq = excluded.next_seq, chain = excluded.chain, chain_length = excluded.chain_length, version = excluded.version,
    archived = excluded.archived, key = excluded.key, channel_type = excluded.channel_type,
    channel_group_id = excluded.channel_group_id, last_human = excluded.last_human, pointer = excluded.pointer,
    answered = excluded.answered, stalled = excluded.stalled, blocked = excluded.blocked,
    epoch = excluded.epoch, summarised = excluded.summarised;

-- name: put_member
-- A member, new or changed.
INSERT INTO members (
    conversation, participant, position, joined_us, speaks, joined_seq, cursor, mark, streak, rested, said_at, cut
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
ON CONFLICT (conversation, participant) DO UPDATE SET
    position = excluded.position, speaks = excluded.speaks, joined_us = excluded.joined_us, joined_seq = excluded.joined_seq,
    cursor = excluded.cursor, mark = excluded.mark, streak = excluded.streak, rested = excluded.rested,
    said_at = excluded.said_at, cut = excluded.cut;

-- name: drop_member
-- Somebody left.
DELETE FROM members WHERE conversation = $1 AND participant = $2;

-- name: put_turn
-- A turn, new or moved on. Its id, agent and conversation never change.
INSERT INTO turns (
    id, agent, conversation, duty, reason, state, calls, created_us, round, place, lo, hi, shared, late, resumed,
    interrupted, cause, root, hop, depth, charged, due, lease, deadline, "limit", host, fence, attempt, posts,
    started_at, ended_at, message, rule, error, kept, usage, steps, given, stopping, reserved
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26, $27, $28, $29, $30, $31, $32, $33, $34, $35, $36, $37, $38, $39, $40)
ON CONFLICT (id) DO UPDATE SET
    duty = excluded.duty, reason = excluded.reason, state = excluded.state, calls = excluded.calls,
    created_us = excluded.created_us, round = excluded.round, place = excluded.place, lo = excluded.lo,
    hi = excluded.hi, shared = excluded.shared, late = excluded.late, resumed = excluded.resumed,
    interrupted = excluded.interrupted, cause = excluded.cause, root = excluded.root, hop = excluded.hop,
    depth = excluded.depth, charged = excluded.charged, due = excluded.due, lease = excluded.lease,
    deadline = excluded.deadline, "limit" = excluded."limit", host = excluded.host, fence = excluded.fence,
    attempt = excluded.attempt, posts = excluded.posts, started_at = excluded.started_at,
    ended_at = excluded.ended_at, message = excluded.message, rule = excluded.rule, error = excluded.error,
    kept = excluded.kept, usage = excluded.usage, steps = excluded.steps, given = excluded.given,
    stopping = excluded.stopping, reserved = excluded.reserved;

-- name: put_round
-- A round, new or moved on.
INSERT INTO rounds (
    conversation, opener, root, hop, human, polls, cap, state, used, line, blocked, places, overridden, asked,
    reacted, polled, volunteers, utterances, notes, shared_hi, shared_human
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21)
ON CONFLICT (conversation, opener) DO UPDATE SET
    root = excluded.root, hop = excluded.hop, human = excluded.human, polls = excluded.polls,
    cap = excluded.cap, state = excluded.state, used = excluded.used, line = excluded.line,
    blocked = excluded.blocked, places = excluded.places, overridden = excluded.overridden,
    asked = excluded.asked, reacted = excluded.reacted, polled = excluded.polled,
    volunteers = excluded.volunteers, utterances = excluded.utterances, notes = excluded.notes,
    shared_hi = excluded.shared_hi, shared_human = excluded.shared_human;

-- name: put_root
-- A chain's counters.
INSERT INTO roots (id, turns, base_hop, paused, noticed, tails, messages) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (id) DO UPDATE SET
    turns = excluded.turns, base_hop = excluded.base_hop, paused = excluded.paused, noticed = excluded.noticed,
    tails = excluded.tails, messages = excluded.messages;

-- name: put_pair
-- The limiter between two agents.
INSERT INTO pairs (sender, receiver, level, last, due, sent) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (sender, receiver) DO UPDATE SET
    level = excluded.level, last = excluded.last, due = excluded.due, sent = excluded.sent;

-- name: put_participant
-- A row of the registry.
INSERT INTO registry (
    id, name, kind, aliases, display, role, brain, project, paused, live_until, host, config, created_us,
    last_active, door, reach, reach_until, removed_at
) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, kind = excluded.kind, aliases = excluded.aliases, display = excluded.display,
    role = excluded.role, brain = excluded.brain, project = excluded.project, paused = excluded.paused,
    live_until = excluded.live_until, host = excluded.host, config = excluded.config,
    created_us = excluded.created_us, last_active = excluded.last_active, door = excluded.door,
    reach = excluded.reach, reach_until = excluded.reach_until, removed_at = excluded.removed_at;

-- name: forget_names
-- Before the names a participant answers to are written anew.
DELETE FROM aliases WHERE participant = $1;

-- name: put_name
-- One of the names a participant answers to.
INSERT INTO aliases (name, participant) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: put_quota
-- What an agent used of its hour.
INSERT INTO quotas (agent, hour, turns, roots, last_root, last_hop, last_ended) VALUES ($1, $2, $3, $4, $5, $6, $7)
ON CONFLICT (agent) DO UPDATE SET
    hour = excluded.hour, turns = excluded.turns, roots = excluded.roots, last_root = excluded.last_root,
    last_hop = excluded.last_hop, last_ended = excluded.last_ended;

-- name: put_host
-- A host and its lease.
INSERT INTO hosts (id, pid, agents, lease_until, started_at, socket, watches, machine)
VALUES ($1, $2, $3, $4, $5, $6, $7, $8)
ON CONFLICT (id) DO UPDATE SET
    pid = excluded.pid, agents = excluded.agents, lease_until = excluded.lease_until,
    started_at = excluded.started_at, socket = excluded.socket, watches = excluded.watches,
    machine = excluded.machine;

-- name: drop_host
-- A host that went.
DELETE FROM hosts WHERE id = $1;

-- name: links_changed
-- Whoever keeps the link graph at hand has to read it again.
UPDATE counters SET value = value + 1 WHERE name = 'links';

-- name: append_event
-- Something that happened.
INSERT INTO events (type, at_us, conversation, by, seq, turn, body, id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: talk
-- What nearly every batch writes, in one round trip: conversations in which there was talk ($1 to $9), turns that another message
-- joined ($10 to $13), both otherwise as they were, and what happened ($14 to $21). $22: other hubs have to load again what they
-- keep.
WITH talked AS (
    UPDATE conversations c SET
        updated_us = w.updated_us, next_seq = w.next_seq, chain = w.chain, chain_length = w.chain_length,
        last_human = w.last_human, pointer = w.pointer, answered = w.answered, stalled = w.stalled
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::text[], $5::bigint[], $6::bigint[], $7::text[], $8::bigint[], $9::bigint[])
        w(id, updated_us, next_seq, chain, chain_length, last_human, pointer, answered, stalled)
    WHERE c.id = w.id
), joined AS (
    UPDATE turns t SET duty = w.duty, reason = w.reason, calls = w.calls
    FROM unnest($10::bigint[], $11::text[], $12::text[], $13::text[]) w(id, duty, reason, calls)
    WHERE t.id = w.id
), noted AS (
    INSERT INTO writers (id, number) SELECT current_setting('moot.writer'), pg_current_xact_id()::text::bigint WHERE $22::bool
    ON CONFLICT (id) DO UPDATE SET number = excluded.number, at = now()
)
INSERT INTO events (type, at_us, conversation, by, seq, turn, body, id)
SELECT * FROM unnest(
    $14::text[], $15::bigint[], $16::text[], $17::text[], $18::bigint[], $19::text[], $20::text[], $21::bigint[]
);

-- name: forgettable
-- Up to which of the $2 oldest events the log may be forgotten: all before the first that is not older than $1.
WITH oldest AS (SELECT id, at_us FROM events WHERE id < events_end() ORDER BY id LIMIT $2)
SELECT max(id) FROM oldest
WHERE id < coalesce((SELECT min(id) FROM oldest WHERE at_us >= $1), 9223372036854775807);

-- name: move_horizon
-- Readers can tell that there were events up to this one.
UPDATE counters SET value = greatest(value, $1) WHERE name = 'horizon';

-- name: forget_events
-- All up to an event; how many went.
WITH gone AS (DELETE FROM events WHERE id <= $1 RETURNING 1) SELECT count(*) FROM gone;

-- name: add_summary
-- A summary; the optimistic check was made before.
INSERT INTO summaries (conversation, epoch, upto, content, by, at_us, version, usage) VALUES ($1, $2, $3, $4, $5, $6, $7, $8);

-- name: forget_summaries
-- All of a conversation.
DELETE FROM summaries WHERE conversation = $1;

-- name: keep_text
-- A text under its fingerprint, once.
INSERT INTO texts (digest, text) VALUES ($1, $2) ON CONFLICT DO NOTHING;

-- name: drop_conversations
-- Conversations and everything in them.
WITH
    messages_gone AS (DELETE FROM messages WHERE conversation = ANY($1::text[])),
    revisions_gone AS (DELETE FROM revisions WHERE conversation = ANY($1::text[])),
    members_gone AS (DELETE FROM members WHERE conversation = ANY($1::text[])),
    turns_gone AS (DELETE FROM turns WHERE conversation = ANY($1::text[])),
    rounds_gone AS (DELETE FROM rounds WHERE conversation = ANY($1::text[])),
    summaries_gone AS (DELETE FROM summaries WHERE conversation = ANY($1::text[])),
    bookmarks_gone AS (DELETE FROM bookmarks WHERE conversation = ANY($1::text[])),
    waits_gone AS (DELETE FROM waits WHERE conversation = ANY($1::text[])),
    decisions_gone AS (DELETE FROM decisions WHERE conversation = ANY($1::text[])),
    cli_sessions_gone AS (DELETE FROM cli_sessions WHERE conversation = ANY($1::text[])),
    reservations_gone AS (DELETE FROM reservations WHERE conversation = ANY($1::text[])),
    arrivals_gone AS (
        UPDATE arrivals SET account = '', state = 'done', conversation = '', seq = 0, text = '', tries = 0, error = ''
        WHERE conversation = ANY($1::text[])
    ),
    bridge_posts_gone AS (DELETE FROM bridge_posts WHERE conversation = ANY($1::text[]))
DELETE FROM conversations WHERE id = ANY($1::text[]);

-- name: forget_writer
-- One that closes. Who has gone is noted: what it wrote last must not be forgotten with its row.
WITH gone AS (DELETE FROM writers WHERE id = current_setting('moot.writer') RETURNING id)
INSERT INTO writers (id, number) SELECT '-', pg_current_xact_id()::text::bigint FROM gone LIMIT 1
ON CONFLICT (id) DO UPDATE SET number = excluded.number, at = now();

-- name: forget_writers
-- Those that did not close, a day later.
WITH gone AS (DELETE FROM writers WHERE at < now() - interval '1 day' AND id NOT IN ('-', '') RETURNING id)
INSERT INTO writers (id, number) SELECT '-', pg_current_xact_id()::text::bigint FROM gone LIMIT 1
ON CONFLICT (id) DO UPDATE SET number = excluded.number, at = now();

-- name: note_writer
-- Other hubs have to load again what they keep: a migration may have changed it.
INSERT INTO writers (id, number) VALUES (current_setting('moot.writer'), pg_current_xact_id()::text::bigint)
ON CONFLICT (id) DO UPDATE SET number = excluded.number, at = now();
