-- Reading everything, row by row and in the order of keys: where a row stands, and its value. The shapes are those of
-- shapes.sql.

-- name: conversations
-- Every conversation.
SELECT id, shape FROM conversation_shape ORDER BY id;

-- name: messages
-- The messages of one, in order.
SELECT seq, shape FROM message_shape WHERE conversation = $1 ORDER BY seq;

-- name: registry
-- Every participant.
SELECT id, shape FROM participant_shape ORDER BY id;

-- name: members
-- Every membership.
SELECT conversation || ' ' || participant, shape FROM member_shape ORDER BY conversation, participant;

-- name: revisions
-- Every edit and delete.
SELECT conversation || ' entry ' || chain_place, shape FROM revision_shape ORDER BY conversation, chain_place;

-- name: turns
-- Every turn.
SELECT id::text, shape FROM turn_shape ORDER BY turn_shape.id;

-- name: rounds
-- Every round.
SELECT conversation || ':' || opener, shape FROM round_shape ORDER BY conversation, opener;

-- name: roots
-- Every chain of causes.
SELECT id, shape FROM root_shape ORDER BY id;

-- name: pairs
-- Every pair that was limited.
SELECT sender || ' ' || receiver, shape FROM pair_shape ORDER BY sender, receiver;

-- name: quotas
-- Every hourly count.
SELECT agent, shape FROM quota_shape ORDER BY agent;

-- name: hosts
-- Every process that hosts agents.
SELECT id, shape FROM host_shape ORDER BY id;

-- name: summaries
-- Every summary.
SELECT conversation || ' epoch ' || epoch, shape FROM summary_shape ORDER BY conversation, epoch;

-- name: events
-- Every event.
SELECT id::text, shape FROM event_shape ORDER BY event_shape.id;

-- name: aliases
-- Every name that somebody answers to.
SELECT name, participant FROM aliases;

-- name: task
-- A task by its id.
SELECT shape FROM tasks_shape WHERE id = $1;

-- name: conversation
-- Whether there is such a conversation.
SELECT count(*) FROM conversations WHERE id = $1;

-- name: entries_of
-- How many entries a chain of the audit has.
SELECT count(*) FROM audit_entries WHERE chain = $1;

-- name: note_versions
-- The versions of one note, in order.
SELECT version, shape FROM note_versions_shape WHERE note = $1 ORDER BY version;

-- name: orphans
-- Messages of conversations, and versions of notes, that are not there.
SELECT conversation || ':' || min(seq) FROM messages
WHERE conversation NOT IN (SELECT id FROM conversations) GROUP BY conversation
UNION ALL
SELECT 'note ' || note || '@' || min(version) FROM note_versions
WHERE note NOT IN (SELECT name FROM notes) GROUP BY note;
