-- One view per value: its fields as one JSON array, so that a whole result decodes in one call. Plain columns
-- first, then those that hold JSON already, as they are. stores/rows.py knows the same order. Made anew by whichever
-- version opens the database with other ones than there are: they belong to the code, not to the data.

-- name: conversation_shape
-- A Conversation.
CREATE VIEW conversation_shape AS
SELECT id, name, kind, key, archived, rtrim(json_build_array(
    id, name, kind, created_us / 1e6::float8, updated_us / 1e6::float8, home, next_seq, chain, chain_length, version, archived, key,
    channel_type, channel_group_id, last_human, pointer, answered, stalled, epoch, summarised
)::text, ']') || ',' || settings || ',' || blocked || ']' AS shape FROM conversations;

-- name: member_shape
-- A Member.
CREATE VIEW member_shape AS
SELECT conversation, participant, position, json_build_array(
    conversation, participant, position, joined_us / 1e6::float8, speaks, joined_seq, cursor, mark, streak, rested, said_at, cut
)::text AS shape FROM members;

-- name: participant_shape
-- A Participant; an agent is present as long as its host's lease runs.
CREATE VIEW participant_shape AS
SELECT id, name, created_us, rtrim(json_build_array(
    id, name, kind, display, role, brain, project, paused,
    CASE kind WHEN 'agent' THEN coalesce((SELECT lease_until FROM hosts h WHERE h.id = r.host), 0.0)
              ELSE live_until END,
    host, created_us / 1e6::float8, last_active, door, reach, reach_until, removed_at
)::text, ']') || ',' || aliases || ',' || config || ']' AS shape FROM registry r;

-- name: quota_shape
-- A Quota.
CREATE VIEW quota_shape AS
SELECT agent, json_build_array(agent, hour, turns, roots, last_root, last_hop, last_ended)::text AS shape FROM quotas;

-- name: host_shape
-- A Host.
CREATE VIEW host_shape AS
SELECT id,
    rtrim(json_build_array(id, pid, lease_until, started_at, socket, watches, machine)::text, ']') || ',' || agents || ']' AS shape
FROM hosts;

-- name: message_shape
-- A Message.
CREATE VIEW message_shape AS
SELECT number, conversation, seq, sender, kind, key, at_us, content, said, traits, rtrim(json_build_array(
    conversation, seq, sender, kind, content, root, hop, at_us / 1e6::float8, reply_to, intent, version, turn, round,
    depth, key, digest, chain_place, hash
)::text, ']') || ',' || mentions || ',' || metadata || ',' || plan || ']' AS shape FROM messages;

-- name: revision_shape
-- A Revision.
CREATE VIEW revision_shape AS
SELECT conversation, chain_place, json_build_array(
    conversation, seq, version, was_hash, text_hash, by, at_us / 1e6::float8, chain_place, hash
)::text AS shape FROM revisions;

-- name: turn_shape
-- A Turn.
CREATE VIEW turn_shape AS
SELECT id, agent, conversation, state, hi, rtrim(json_build_array(
    id, agent, conversation, duty, reason, state, created_us / 1e6::float8, round, place, lo, hi, shared, late, resumed,
    interrupted, cause, root, hop, depth, due, lease, deadline, "limit", host, fence, attempt, posts, started_at,
    ended_at, message, rule, error, kept, stopping, reserved
)::text, ']') || ',' || calls || ',' || charged || ',' || coalesce(usage, 'null') || ',' || steps || ','
    || coalesce(given, 'null') || ']' AS shape FROM turns;

-- name: round_shape
-- A Round.
CREATE VIEW round_shape AS
SELECT conversation, opener, state, rtrim(json_build_array(
    conversation, opener, root, hop, human, polls, cap, state, used, places, overridden, polled, volunteers,
    shared_hi, shared_human
)::text, ']') || ',' || line || ',' || blocked || ',' || asked || ',' || reacted || ',' || utterances || ',' || notes || ']'
AS shape FROM rounds;

-- name: root_shape
-- A Root.
CREATE VIEW root_shape AS
SELECT id, rtrim(json_build_array(id, turns, base_hop, paused, messages)::text, ']') || ',' || noticed || ',' || tails || ']' AS shape
FROM roots;

-- name: pair_shape
-- A Pair.
CREATE VIEW pair_shape AS
SELECT sender, receiver, rtrim(json_build_array(sender, receiver, level, last, due)::text, ']') || ',' || sent || ']' AS shape
FROM pairs;

-- name: event_shape
-- An Event.
CREATE VIEW event_shape AS
SELECT id, type, conversation, rtrim(json_build_array(type, at_us / 1e6::float8, conversation, by, seq, id)::text, ']')
    || ',' || coalesce(turn, 'null') || ',' || coalesce(body, 'null') || ']' AS shape FROM events;

-- name: summary_shape
-- A Summary.
CREATE VIEW summary_shape AS
SELECT conversation, epoch, upto, rtrim(json_build_array(conversation, epoch, upto, content, by, at_us / 1e6::float8, version)::text, ']')
    || ',' || coalesce(usage, 'null') || ']' AS shape FROM summaries;
