-- Reading everything, row by row and in the order of keys: where a row stands, and its value as bytes, so that a
-- damaged text is found and told of instead of stopping the reading. The shapes are those of shapes.sql.

-- name: conversations
-- Every conversation.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM conversation_shape ORDER BY id;

-- name: messages
-- The messages of one, in order.
SELECT seq, CAST(shape AS BLOB) FROM message_shape WHERE conversation = ? ORDER BY seq;

-- name: registry
-- Every participant.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM participant_shape ORDER BY id;

-- name: members
-- Every membership.
SELECT CAST(conversation || ' ' || participant AS BLOB), CAST(shape AS BLOB) FROM member_shape ORDER BY conversation, participant;

-- name: revisions
-- Every edit and delete.
SELECT CAST(conversation || ' entry ' || chain_place AS BLOB), CAST(shape AS BLOB) FROM revision_shape ORDER BY conversation, chain_place;

-- name: turns
-- Every turn.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM turn_shape ORDER BY id;

-- name: rounds
-- Every round.
SELECT CAST(conversation || ':' || opener AS BLOB), CAST(shape AS BLOB) FROM round_shape ORDER BY conversation, opener;

-- name: roots
-- Every chain of causes.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM root_shape ORDER BY id;

-- name: pairs
-- Every pair that was limited.
SELECT CAST(sender || ' ' || receiver AS BLOB), CAST(shape AS BLOB) FROM pair_shape ORDER BY sender, receiver;

-- name: quotas
-- Every hourly count.
SELECT CAST(agent AS BLOB), CAST(shape AS BLOB) FROM quota_shape ORDER BY agent;

-- name: hosts
-- Every process that hosts agents.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM host_shape ORDER BY id;

-- name: summaries
-- Every summary.
SELECT CAST(conversation || ' epoch ' || epoch AS BLOB), CAST(shape AS BLOB) FROM summary_shape ORDER BY conversation, epoch;

-- name: events
-- Every event.
SELECT CAST(id AS BLOB), CAST(shape AS BLOB) FROM event_shape ORDER BY id;

-- name: aliases
-- Every name that somebody answers to.
SELECT CAST(name AS BLOB), CAST(participant AS BLOB) FROM aliases;

-- name: task
-- A task by its id.
SELECT CAST(shape AS BLOB) FROM tasks_shape WHERE id = ?;

-- name: conversation
-- Whether there is such a conversation.
SELECT count(*) FROM conversations WHERE id = ?;

-- name: entries_of
-- How many entries a chain of the audit has.
SELECT count(*) FROM audit_entries WHERE chain = ?;

-- name: note_versions
-- The versions of one note, in order.
SELECT version, CAST(shape AS BLOB) FROM note_versions_shape WHERE note = ? ORDER BY version;

-- name: orphans
-- Messages of conversations, and versions of notes, that are not there.
SELECT CAST(conversation || ':' || min(seq) AS BLOB) FROM messages
WHERE conversation NOT IN (SELECT id FROM conversations) GROUP BY conversation
UNION ALL
SELECT CAST('note ' || note || '@' || min(version) AS BLOB) FROM note_versions
WHERE note NOT IN (SELECT name FROM notes) GROUP BY note;
