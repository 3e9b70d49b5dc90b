-- What a batch writes: one statement per table, run once for each dirty row.

-- name: append_message
-- A new message.
INSERT INTO messages (
    conversation, seq, sender, kind, content, root, hop, at_us, mentions, reply_to, intent, version, turn, round,
    depth, metadata, plan, key, digest, chain_place, hash
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: revise_message
-- An edited or deleted message; its address stays.
UPDATE messages SET
    sender = ?3, kind = ?4, content = ?5, root = ?6, hop = ?7, at_us = ?8, mentions = ?9, reply_to = ?10,
    intent = ?11, version = ?12, turn = ?13, round = ?14, depth = ?15, metadata = ?16, plan = ?17, key = ?18,
    digest = ?19, chain_place = ?20, hash = ?21
WHERE conversation = ?1 AND seq = ?2;

-- name: append_revision
-- The record of an edit or delete.
INSERT INTO revisions (conversation, seq, version, was_hash, text_hash, by, at_us, chain_place, hash)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?);

-- name: put_conversation
-- A conversation, new or changed.
INSERT INTO conversations (
    id, name, kind, created_us, updated_us, settings, home, next_seq, chain, chain_length, version, archived, key,
    channel_type, channel_group_id, last_human, pointer, answered, stalled, blocked, epoch, summarised
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, kind = excluded.kind, created_us = excluded.created_us,
    updated_us = excluded.updated_us, settings = excluded.settings, home = excluded.home,
    next_seq = excluded.next_seq, chain = excluded.chain, chain_length = excluded.chain_length, version = excluded.version,
    archived = excluded.archived, key = excluded.key, channel_type = excluded.channel_type,
    channel_group_id = excluded.channel_group_id, last_human = excluded.last_human, pointer = excluded.pointer,
    answered = excluded.answered, stalled = excluded.stalled, blocked = excluded.blocked,
    epoch = excluded.epoch, summarised = excluded.summarised;

-- name: talk_in_conversation
-- A conversation in which there was talk, and which is otherwise as it was.
UPDATE conversations SET
    updated_us = ?2, next_seq = ?3, chain = ?4, chain_length = ?5, last_human = ?6, pointer = ?7, answered = ?8, stalled = ?9
WHERE id = ?1;

-- name: put_member
-- A member, new or changed.
INSERT INTO members (
    conversation, participant, position, joined_us, speaks, joined_seq, cursor, mark, streak, rested, said_at, cut
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (conversation, participant) DO UPDATE SET
    position = excluded.position, speaks = excluded.speaks, joined_us = excluded.joined_us, joined_seq = excluded.joined_seq,
    cursor = excluded.cursor, mark = excluded.mark, streak = excluded.streak, rested = excluded.rested,
    said_at = excluded.said_at, cut = excluded.cut;

-- name: drop_member
-- Somebody left.
DELETE FROM members WHERE conversation = ? AND participant = ?;

-- name: put_turn
-- A turn, new or moved on. Its id, agent and conversation never change.
INSERT INTO turns (
    id, agent, conversation, duty, reason, state, calls, created_us, round, place, lo, hi, shared, late, resumed,
    interrupted, cause, root, hop, depth, charged, due, lease, deadline, "limit", host, fence, attempt, posts,
    started_at, ended_at, message, rule, error, kept, usage, steps, given, stopping, reserved
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
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

-- name: join_turn
-- A turn that another message joined, and that is otherwise as it was.
UPDATE turns SET duty = ?2, reason = ?3, calls = ?4 WHERE id = ?1;

-- name: put_round
-- A round, new or moved on.
INSERT INTO rounds (
    conversation, opener, root, hop, human, polls, cap, state, used, line, blocked, places, overridden, asked,
    reacted, polled, volunteers, utterances, notes, shared_hi, shared_human
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (conversation, opener) DO UPDATE SET
    root = excluded.root, hop = excluded.hop, human = excluded.human, polls = excluded.polls,
    cap = excluded.cap, state = excluded.state, used = excluded.used, line = excluded.line,
    blocked = excluded.blocked, places = excluded.places, overridden = excluded.overridden,
    asked = excluded.asked, reacted = excluded.reacted, polled = excluded.polled,
    volunteers = excluded.volunteers, utterances = excluded.utterances, notes = excluded.notes,
    shared_hi = excluded.shared_hi, shared_human = excluded.shared_human;

-- name: put_root
-- A chain's counters.
INSERT INTO roots (id, turns, base_hop, paused, noticed, tails, messages) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    turns = excluded.turns, base_hop = excluded.base_hop, paused = excluded.paused, noticed = excluded.noticed,
    tails = excluded.tails, messages = excluded.messages;

-- name: put_pair
-- The limiter between two agents.
INSERT INTO pairs (sender, receiver, level, last, due, sent) VALUES (?, ?, ?, ?, ?, ?)
ON CONFLICT (sender, receiver) DO UPDATE SET
    level = excluded.level, last = excluded.last, due = excluded.due, sent = excluded.sent;

-- name: put_participant
-- A row of the registry.
INSERT INTO registry (
    id, name, kind, aliases, display, role, brain, project, paused, live_until, host, config, created_us,
    last_active, door, reach, reach_until, removed_at
) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    name = excluded.name, kind = excluded.kind, aliases = excluded.aliases, display = excluded.display,
    role = excluded.role, brain = excluded.brain, project = excluded.project, paused = excluded.paused,
    live_until = excluded.live_until, host = excluded.host, config = excluded.config,
    created_us = excluded.created_us, last_active = excluded.last_active, door = excluded.door,
    reach = excluded.reach, reach_until = excluded.reach_until, removed_at = excluded.removed_at;

-- name: forget_names
-- Before the names a participant answers to are written anew.
DELETE FROM aliases WHERE participant = ?;

-- name: put_name
-- One of the names a participant answers to.
INSERT OR IGNORE INTO aliases (name, participant) VALUES (?, ?);

-- name: put_quota
-- What an agent used of its hour.
INSERT INTO quotas (agent, hour, turns, roots, last_root, last_hop, last_ended) VALUES (?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (agent) DO UPDATE SET
    hour = excluded.hour, turns = excluded.turns, roots = excluded.roots, last_root = excluded.last_root,
    last_hop = excluded.last_hop, last_ended = excluded.last_ended;

-- name: put_host
-- A host and its lease.
INSERT INTO hosts (id, pid, agents, lease_until, started_at, socket, watches, machine)
VALUES (?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT (id) DO UPDATE SET
    pid = excluded.pid, agents = excluded.agents, lease_until = excluded.lease_until,
    started_at = excluded.started_at, socket = excluded.socket, watches = excluded.watches,
    machine = excluded.machine;

-- name: drop_host
-- A host that went.
DELETE FROM hosts WHERE id = ?;

-- name: links_changed
-- Whoever keeps the link graph at hand has to read it again.
UPDATE counters SET value = value + 1 WHERE name = 'links';

-- name: append_event
-- Something that happened.
INSERT INTO events (type, at_us, conversation, by, seq, turn, body, id) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: forgettable
-- Up to which of the ?2 oldest events the log may be forgotten: all before the first that is not older than ?1.
WITH oldest AS (SELECT id, at_us FROM events ORDER BY id LIMIT ?2)
SELECT max(id) FROM oldest
WHERE id < coalesce((SELECT min(id) FROM oldest WHERE at_us >= ?1), 9223372036854775807);

-- name: forget_events
-- All up to an event. Its number is not given again, and readers can tell that it was there.
UPDATE counters SET value = max(value, :upto) WHERE name = 'event';
INSERT INTO counters (name, value) VALUES ('horizon', :upto)
ON CONFLICT (name) DO UPDATE SET value = max(value, excluded.value);
DELETE FROM events WHERE id <= :upto;

-- name: add_summary
-- A summary; the optimistic check was made before.
INSERT INTO summaries (conversation, epoch, upto, content, by, at_us, version, usage) VALUES (?, ?, ?, ?, ?, ?, ?, ?);

-- name: forget_summaries
-- All of a conversation.
DELETE FROM summaries WHERE conversation = ?;

-- name: keep_text
-- A text under its fingerprint, once.
INSERT OR IGNORE INTO texts (digest, text) VALUES (?, ?);

-- name: remember_turn_id
-- Before turns are erased: their ids are not given again.
UPDATE counters SET value = max(value, coalesce((SELECT max(id) FROM turns), 0)) WHERE name = 'turn';

-- name: drop_conversation
-- A conversation and everything in it.
DELETE FROM messages WHERE conversation = :conversation;
DELETE FROM revisions WHERE conversation = :conversation;
DELETE FROM members WHERE conversation = :conversation;
DELETE FROM turns WHERE conversation = :conversation
    AND state IN ('waiting', 'ready', 'held', 'owed', 'running');
DELETE FROM turns WHERE conversation = :conversation
    AND state IN ('said', 'passed', 'failed', 'expired', 'cancelled');
DELETE FROM rounds WHERE conversation = :conversation;
DELETE FROM summaries WHERE conversation = :conversation;
DELETE FROM bookmarks WHERE conversation = :conversation;
DELETE FROM waits WHERE conversation = :conversation;
DELETE FROM decisions WHERE conversation = :conversation;
DELETE FROM cli_sessions WHERE conversation = :conversation;
DELETE FROM reservations WHERE conversation = :conversation;
UPDATE arrivals SET account = '', state = 'done', conversation = '', seq = 0, text = '', tries = 0, error = ''
    WHERE conversation = :conversation;
DELETE FROM bridge_posts WHERE conversation = :conversation;
DELETE FROM conversations WHERE id = :conversation;
