-- One view per value: its fields as one JSON array, so that a whole result decodes in one call. Plain columns
-- first, then those that hold JSON already, as they are: SQLite would parse them only to write them out again,
-- and would refuse what is nested deeper than its own limit. rows.py knows the same order.
-- Made for each connection; they belong to the code, not to the file.

-- name: conversation_shape
-- A Conversation.
CREATE TEMP VIEW conversation_shape AS
SELECT id, name, kind, key, archived, rtrim(json_array(
    id, name, kind, created_us / 1e6, updated_us / 1e6, home, next_seq, chain, chain_length, version, archived, key,
    channel_type, channel_group_id, last_human, pointer, answered, stalled, epoch, summarised
), ']') || ',' || settings || ',' || blocked || ']' AS shape FROM main.conversations;

-- name: member_shape
-- A Member.
CREATE TEMP VIEW member_shape AS
SELECT conversation, participant, position, json_array(
    conversation, participant, position, joined_us / 1e6, speaks, joined_seq, cursor, mark, streak, rested, said_at, cut
) AS shape FROM main.members;

-- name: participant_shape
-- A Participant; an agent is present as long as its host's lease runs.
CREATE TEMP VIEW participant_shape AS
SELECT id, name, created_us, rtrim(json_array(
    id, name, kind, display, role, brain, project, paused,
    CASE kind WHEN 'agent' THEN coalesce((SELECT lease_until FROM main.hosts h WHERE h.id = r.host), 0.0)
              ELSE live_until END,
    host, created_us / 1e6, last_active, door, reach, reach_until, removed_at
), ']') || ',' || aliases || ',' || config || ']' AS shape FROM main.registry r;

-- name: quota_shape
-- A Quota.
CREATE TEMP VIEW quota_shape AS
SELECT agent, json_array(agent, hour, turns, roots, last_root, last_hop, last_ended) AS shape FROM main.quotas;

-- name: host_shape
-- A Host.
CREATE TEMP VIEW host_shape AS
SELECT id,
    rtrim(json_array(id, pid, lease_until, started_at, socket, watches, machine), ']') || ',' || agents || ']' AS shape
FROM main.hosts;

-- name: message_shape
-- A Message.
CREATE TEMP VIEW message_shape AS
SELECT row, conversation, seq, sender, key, at_us, rtrim(json_array(
    conversation, seq, sender, kind, content, root, hop, at_us / 1e6, reply_to, intent, version, turn, round,
    depth, key, digest, chain_place, hash
), ']') || ',' || mentions || ',' || metadata || ',' || plan || ']' AS shape FROM main.messages;

-- name: revision_shape
-- A Revision.
CREATE TEMP VIEW revision_shape AS
SELECT conversation, chain_place, json_array(
    conversation, seq, version, was_hash, text_hash, by, at_us / 1e6, chain_place, hash
) AS shape FROM main.revisions;

-- name: turn_shape
-- A Turn.
CREATE TEMP VIEW turn_shape AS
SELECT id, agent, conversation, state, hi, rtrim(json_array(
    id, agent, conversation, duty, reason, state, created_us / 1e6, round, place, lo, hi, shared, late, resumed,
    interrupted, cause, root, hop, depth, due, lease, deadline, "limit", host, fence, attempt, posts, started_at,
    ended_at, message, rule, error, kept, stopping, reserved
), ']') || ',' || calls || ',' || charged || ',' || coalesce(usage, 'null') || ',' || steps || ','
    || coalesce(given, 'null') || ']' AS shape FROM main.turns;

-- name: round_shape
-- A Round.
CREATE TEMP VIEW round_shape AS
SELECT conversation, opener, state, rtrim(json_array(
    conversation, opener, root, hop, human, polls, cap, state, used, places, overridden, polled, volunteers,
    shared_hi, shared_human
), ']') || ',' || line || ',' || blocked || ',' || asked || ',' || reacted || ',' || utterances || ',' || notes || ']'
AS shape FROM main.rounds;

-- name: root_shape
-- A Root.
CREATE TEMP VIEW root_shape AS
SELECT id, rtrim(json_array(id, turns, base_hop, paused, messages), ']') || ',' || noticed || ',' || tails || ']' AS shape
FROM main.roots;

-- name: pair_shape
-- A Pair.
CREATE TEMP VIEW pair_shape AS
SELECT sender, receiver, rtrim(json_array(sender, receiver, level, last, due), ']') || ',' || sent || ']' AS shape
FROM main.pairs;

-- name: event_shape
-- An Event.
CREATE TEMP VIEW event_shape AS
SELECT id, type, conversation, rtrim(json_array(type, at_us / 1e6, conversation, by, seq, id), ']')
    || ',' || coalesce(turn, 'null') || ',' || coalesce(body, 'null') || ']' AS shape FROM main.events;

-- name: summary_shape
-- A Summary.
CREATE TEMP VIEW summary_shape AS
SELECT conversation, epoch, upto, rtrim(json_array(conversation, epoch, upto, content, by, at_us / 1e6, version), ']')
    || ',' || coalesce(usage, 'null') || ']' AS shape FROM main.summaries;
