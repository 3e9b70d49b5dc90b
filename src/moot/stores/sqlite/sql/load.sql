-- What a batch loads onto its desk: one statement per table for all commands of the batch. ?1 is a JSON list.

-- name: next_ids
-- The highest turn and event ids ever given, and the version of the link graph.
SELECT max(coalesce((SELECT max(id) FROM turns), 0), (SELECT value FROM counters WHERE name = 'turn')),
       max(coalesce((SELECT max(id) FROM events), 0), (SELECT value FROM counters WHERE name = 'event')),
       (SELECT value FROM counters WHERE name = 'links');

-- name: turns_by_id
-- Turns a command names, ended ones too.
SELECT group_concat(shape, ',') FROM turn_shape WHERE id IN (SELECT value FROM json_each(?1));

-- name: turns_running
-- All running turns of some participants.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN turn_shape t
ON t.agent = w.value AND t.state = 'running' AND t.state IN ('waiting', 'ready', 'held', 'owed', 'running');

-- name: conversations_by_id
-- By id.
SELECT group_concat(shape, ',') FROM conversation_shape WHERE id IN (SELECT value FROM json_each(?1));

-- name: conversations_by_name
-- Those not archived, by name or key.
SELECT group_concat(shape, ',') FROM conversation_shape WHERE id IN (
    SELECT c.id FROM json_each(?1) w CROSS JOIN conversations c ON c.name = w.value AND c.archived = 0
    UNION ALL SELECT c.id FROM json_each(?1) w CROSS JOIN conversations c
              ON c.key = w.value AND c.archived = 0 AND c.key <> ''
);

-- name: members
-- Members of conversations, in joining order.
SELECT group_concat(shape, ',' ORDER BY position) FROM json_each(?1) w CROSS JOIN member_shape m
ON m.conversation = w.value;

-- name: open_turns
-- Turns of conversations that have not ended; the index gives them oldest first.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN turn_shape t
ON t.conversation = w.value AND t.state IN ('waiting', 'ready', 'held', 'owed', 'running');

-- name: oldest_open_turns
-- The same, and of each conversation no more than so many (?2) of the oldest.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN turn_shape t ON t.id IN (
    SELECT o.id FROM turns o
    WHERE o.conversation = w.value AND o.state IN ('waiting', 'ready', 'held', 'owed', 'running')
    ORDER BY o.id LIMIT ?2
);

-- name: open_turns_behind
-- Of one conversation those behind a turn, no more than so many.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM turn_shape
    WHERE conversation = ?1 AND id > ?2 AND state IN ('waiting', 'ready', 'held', 'owed', 'running')
    ORDER BY id LIMIT ?3
);

-- name: count_open_turns_behind
-- How many they are; the index says so.
SELECT count(*) FROM turns
WHERE conversation = ?1 AND id > ?2 AND state IN ('waiting', 'ready', 'held', 'owed', 'running');

-- name: turns_on_the_floor
-- Turns of conversations that do not wait behind others, found by the members: where thousands wait, they are few.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN members m ON m.conversation = w.value
CROSS JOIN turn_shape t ON t.agent = m.participant AND t.conversation = m.conversation
AND t.state IN ('ready', 'held', 'owed', 'running') AND t.state IN ('waiting', 'ready', 'held', 'owed', 'running');

-- name: open_rounds
-- Rounds of conversations that have not closed; the index gives them oldest first.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN round_shape r
ON r.conversation = w.value AND r.state IN ('queued', 'running');

-- name: rounds_by_opener
-- Rounds by {conversation: [opener, …]}.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN json_each(w.value) o CROSS JOIN round_shape r
ON r.conversation = w.key AND r.opener = o.value;

-- name: people
-- Participants by id (?1), and by any of their names (?2).
SELECT group_concat(shape, ',') FROM participant_shape WHERE id IN (
    SELECT value FROM json_each(?1)
    UNION ALL SELECT a.participant FROM json_each(?2) w CROSS JOIN aliases a ON a.name = w.value
);

-- name: quotas
-- What agents used of their hour.
SELECT group_concat(shape, ',') FROM quota_shape WHERE agent IN (SELECT value FROM json_each(?1));

-- name: roots
-- Chains by id.
SELECT group_concat(shape, ',') FROM root_shape WHERE id IN (SELECT value FROM json_each(?1));

-- name: root
-- One chain.
SELECT shape FROM root_shape WHERE id = ?1;

-- name: pairs
-- Limiters by {sender: [receiver, …]}.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN json_each(w.value) o CROSS JOIN pair_shape p
ON p.sender = w.key AND p.receiver = o.value;

-- name: messages_by_address
-- Messages by {conversation: [seq, …]}.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN json_each(w.value) o CROSS JOIN message_shape m
ON m.conversation = w.key AND m.seq = o.value;

-- name: by_people_before
-- The newest messages by people in a conversation below a seq that were not deleted.
SELECT seq FROM messages
WHERE conversation = ?1 AND seq < ?2 AND kind = 'human' AND coalesce(metadata ->> '$.deleted', 0) = 0
ORDER BY seq DESC LIMIT ?3;

-- name: messages_by_key
-- Messages by {author: [idempotency key, …]}.
SELECT group_concat(shape, ',') FROM json_each(?1) w CROSS JOIN json_each(w.value) o CROSS JOIN message_shape m
ON m.sender = w.key AND m.key = o.value AND m.key <> '';
