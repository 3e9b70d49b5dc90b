-- The reads beside the writer, each on a read-only connection.

-- name: conversation
-- By id, else by name or key among those not archived.
SELECT shape FROM conversation_shape WHERE id = ?1
UNION ALL SELECT shape FROM conversation_shape WHERE name = ?1 AND archived = 0
UNION ALL SELECT shape FROM conversation_shape WHERE key = ?1 AND archived = 0 AND key <> ''
LIMIT 1;

-- name: version
-- Of a conversation, by id, else by name or key: moves with every message, edit and delete in it.
SELECT id, chain_length FROM conversations WHERE id = ?1
UNION ALL SELECT id, chain_length FROM conversations WHERE name = ?1 AND archived = 0
UNION ALL SELECT id, chain_length FROM conversations WHERE key = ?1 AND archived = 0 AND key <> ''
LIMIT 1;

-- name: version_for
-- The same, and whether ?2 is in it.
SELECT id, chain_length, EXISTS (SELECT 1 FROM members WHERE conversation = id AND participant = ?2)
FROM conversations WHERE id = ?1
UNION ALL
SELECT id, chain_length, EXISTS (SELECT 1 FROM members WHERE conversation = id AND participant = ?2)
FROM conversations WHERE name = ?1 AND archived = 0
UNION ALL
SELECT id, chain_length, EXISTS (SELECT 1 FROM members WHERE conversation = id AND participant = ?2)
FROM conversations WHERE key = ?1 AND archived = 0 AND key <> ''
LIMIT 1;

-- name: conversations
-- All of them, archived or not, of one kind or any, in the order they were made.
SELECT group_concat(shape, ',' ORDER BY id) FROM conversation_shape WHERE archived = ?1 AND kind = coalesce(?2, kind);

-- name: members
-- In joining order.
SELECT group_concat(shape, ',' ORDER BY position) FROM member_shape WHERE conversation = ?1;

-- name: members_everywhere
-- Of all conversations that are archived, or are not; in joining order.
SELECT group_concat(shape, ',' ORDER BY conversation, position) FROM member_shape
WHERE conversation IN (SELECT id FROM conversations WHERE archived = ?1);

-- name: newest_everywhere
-- The newest message of each conversation that is archived, or is not.
SELECT group_concat(m.shape, ',') FROM conversations c CROSS JOIN message_shape m
    ON m.conversation = c.id AND m.seq = c.next_seq - 1
WHERE c.archived = ?1;

-- name: unread_everywhere
-- [[conversation, count], …] of messages that ?2 has not read, no further than ?3 in each. Message.is_for says which.
SELECT json_group_array(json_array(m.conversation, (
    SELECT count(*) FROM (
        SELECT 1 FROM messages x WHERE x.conversation = m.conversation AND x.seq > m.cursor AND x.sender <> ?2
            AND (NOT json_valid(x.metadata) OR x.metadata ->> '$.deleted' IS NULL)
            AND (x.kind NOT IN ('system', 'tool')
                OR (x.kind = 'system' AND json_valid(x.metadata)
                    AND coalesce(json_type(x.metadata, '$.task'), json_type(x.metadata, '$.question')) IS NOT NULL))
        LIMIT ?3
    )
))) FROM members m CROSS JOIN conversations c ON c.id = m.conversation
WHERE m.participant = ?2 AND c.archived = ?1 AND m.cursor < c.next_seq - 1;

-- name: messages_after
-- The first ?1 messages of ?2 with ?3 < seq < ?4.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM message_shape WHERE conversation = ?2 AND seq > ?3 AND seq < ?4 ORDER BY seq LIMIT ?1
);

-- name: messages_newest
-- The newest ?1 messages of ?2 with ?3 < seq < ?4, newest first.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM message_shape WHERE conversation = ?2 AND seq > ?3 AND seq < ?4 ORDER BY seq DESC LIMIT ?1
);

-- name: message
-- By its address.
SELECT shape FROM message_shape WHERE conversation = ?1 AND seq = ?2;

-- name: revisions
-- Edits and deletes in a conversation, in the order of the audit chain.
SELECT group_concat(shape, ',' ORDER BY chain_place) FROM revision_shape WHERE conversation = ?1;

-- name: summary
-- The newest of ?1 that stands for nothing beyond ?2.
SELECT shape FROM summary_shape WHERE conversation = ?1 AND upto <= ?2 ORDER BY epoch DESC LIMIT 1;

-- name: summary_of
-- By epoch.
SELECT shape FROM summary_shape WHERE conversation = ?1 AND epoch = ?2;

-- name: text
-- A kept text.
SELECT text FROM texts WHERE digest = ?1;

-- name: secret
-- What the boundaries of prompts are derived from.
SELECT value FROM instance WHERE name = 'secret';

-- name: turns_before
-- The newest ?1 turns of ?3 in ?2 that were given something and read to ?4 or further, oldest last.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM turn_shape
    WHERE conversation = ?2 AND state IN ('said', 'passed', 'failed', 'expired', 'cancelled')
      AND state IN ('said', 'passed', 'failed', 'expired') AND agent = ?3 AND id < ?5 AND hi >= ?4
    ORDER BY id DESC LIMIT ?1
);

-- name: turn
-- By id.
SELECT shape FROM turn_shape WHERE id = ?1;

-- name: turns
-- The newest ?1 turns in some states (all when the list ?2 is empty), of one agent ?3 or all, newest first.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM turn_shape
    WHERE (?2 = '[]' OR state IN (SELECT value FROM json_each(?2))) AND agent = coalesce(?3, agent)
    ORDER BY id DESC LIMIT ?1
);

-- name: turns_open
-- The same for anybody where only open states are asked for, which an index holds.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM turn_shape WHERE id IN (
        SELECT id FROM turns INDEXED BY turns_by_agent
        WHERE state IN ('waiting', 'ready', 'held', 'owed', 'running')
          AND state IN (SELECT value FROM json_each(?2))
    ) ORDER BY id DESC LIMIT ?1
);

-- name: turns_open_of_agent
-- The same for one agent ?3.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM turn_shape
    WHERE agent = ?3 AND state IN (SELECT value FROM json_each(?2))
      AND state IN ('waiting', 'ready', 'held', 'owed', 'running')
    ORDER BY id DESC LIMIT ?1
);

-- name: turns_open_of_conversation
-- The same in one conversation ?4, of one agent ?3 or all.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM turn_shape
    WHERE conversation = ?4 AND state IN ('waiting', 'ready', 'held', 'owed', 'running')
      AND state IN (SELECT value FROM json_each(?2)) AND agent = coalesce(?3, agent)
    ORDER BY id DESC LIMIT ?1
);

-- name: turns_of_conversation
-- The newest ?1 turns in one conversation ?4, of one agent ?3 or all.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM (
        SELECT id, agent, state, shape FROM turn_shape
        WHERE conversation = ?4 AND state IN ('waiting', 'ready', 'held', 'owed', 'running')
        UNION ALL
        SELECT id, agent, state, shape FROM turn_shape
        WHERE conversation = ?4 AND state IN ('said', 'passed', 'failed', 'expired', 'cancelled')
    )
    WHERE agent = coalesce(?3, agent) AND (?2 = '[]' OR state IN (SELECT value FROM json_each(?2)))
    ORDER BY id DESC LIMIT ?1
);

-- name: turns_about
-- Turns in ?1 that read the message ?2, and those that never began, oldest first.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM turn_shape WHERE id IN (
        SELECT id FROM main.turns
        WHERE conversation = ?1 AND state IN ('waiting', 'ready', 'held', 'owed', 'running')
          AND lo < ?2 AND (hi >= ?2 OR hi = 0)
        UNION ALL
        SELECT id FROM main.turns
        WHERE conversation = ?1 AND state IN ('said', 'passed', 'failed', 'expired', 'cancelled')
          AND lo < ?2 AND (hi >= ?2 OR hi = 0)
    ) ORDER BY id
);

-- name: round
-- By conversation and opener.
SELECT shape FROM round_shape WHERE conversation = ?1 AND opener = ?2;

-- name: due
-- Conversations with an open turn, a task or a question that is not waited for, whose time has come.
SELECT conversation FROM turns
WHERE due > 0 AND due <= ?1 AND state IN ('waiting', 'ready', 'held', 'owed', 'running')
UNION
SELECT conversation FROM tasks WHERE deadline > 0 AND deadline <= ?1 AND state IN ('open', 'working')
    AND conversation IN (SELECT id FROM conversations)
UNION
SELECT conversation FROM waits WHERE host = '' AND answer = 0 AND until > 0 AND until <= ?1
ORDER BY conversation;

-- name: next_due
-- The next moment at which an open turn, task or question must be looked at.
SELECT min(due) FROM (
    SELECT min(due) AS due FROM turns WHERE due > 0 AND state IN ('waiting', 'ready', 'held', 'owed', 'running')
    UNION ALL
    SELECT min(deadline) FROM tasks WHERE deadline > 0 AND state IN ('open', 'working')
        AND conversation IN (SELECT id FROM conversations)
    UNION ALL
    SELECT min(until) FROM waits WHERE host = '' AND answer = 0
);

-- name: note_count
-- How many shared notes there are.
SELECT count(*) FROM notes;

-- name: participants
-- The whole registry, in the order of enrolment.
SELECT group_concat(shape, ',' ORDER BY created_us, id) FROM participant_shape;

-- name: participant
-- By id, current name, or old name.
SELECT p.shape FROM aliases a CROSS JOIN participant_shape p ON p.id = a.participant
WHERE a.name = ?1 ORDER BY p.id = ?1 DESC, p.name = ?1 DESC LIMIT 1;

-- name: hosts
-- All hosts, present or lost.
SELECT group_concat(shape, ',' ORDER BY id) FROM host_shape;

-- name: pairs
-- Limiters of pairs that sent something since ?1.
SELECT group_concat(s.shape, ',' ORDER BY p.sender, p.receiver) FROM main.pairs p CROSS JOIN pair_shape s
ON s.sender = p.sender AND s.receiver = p.receiver WHERE p.last >= ?1;

-- name: quotas
-- What agents used of their hour.
SELECT group_concat(shape, ',' ORDER BY agent) FROM quota_shape;

-- name: root
-- One chain.
SELECT shape FROM root_shape WHERE id = ?1;

-- name: events
-- The first ?1 things that happened after ?2.
SELECT group_concat(shape, ',') FROM (SELECT shape FROM event_shape WHERE id > ?2 ORDER BY id LIMIT ?1);

-- name: events_picked
-- The same, of some types (all when the list ?3 is empty), in one conversation ?4 or any.
SELECT group_concat(shape, ',') FROM (
    SELECT shape FROM event_shape
    WHERE id > ?2 AND (?3 = '[]' OR type IN (SELECT value FROM json_each(?3)))
      AND (?4 IS NULL OR conversation = ?4)
    ORDER BY id LIMIT ?1
);

-- name: last_event
-- The newest event id ever given.
SELECT max(coalesce((SELECT max(id) FROM events), 0), (SELECT value FROM counters WHERE name = 'event'));

-- name: horizon
-- The newest event that is no longer kept.
SELECT coalesce((SELECT value FROM counters WHERE name = 'horizon'), 0);

-- name: count_messages
-- How many messages there are.
SELECT count(*) FROM messages;

-- name: links_version
-- Of the link graph: whoever has read it at this version has it still.
SELECT value FROM counters WHERE name = 'links';

-- name: instance
-- The id of this home.
SELECT value FROM instance WHERE name = 'id';

-- name: homes_of
-- Agents of the list ?1, each with the agents on whose topics conversations live that it is in.
SELECT DISTINCT m.participant, coalesce(c.home, (
    SELECT s.participant FROM members s WHERE s.conversation = c.id AND s.speaks = 1 ORDER BY s.position LIMIT 1
)) AS home
FROM members m JOIN conversations c ON c.id = m.conversation
WHERE m.participant IN (SELECT value FROM json_each(?1)) AND c.archived = 0;
