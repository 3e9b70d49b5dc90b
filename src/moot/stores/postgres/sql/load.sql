-- What a batch loads onto its desk: one statement before the locks, one behind them, one for what both have brought. Where the
-- desk of the last batch has everything, one statement behind the locks says whether it still holds.

-- name: resolve
-- The conversations that commands mean ($1 ids or names, $2 names, $3 turns, $4 whose running turns), with those in which the
-- end of a task is told; and the agents in them.
SELECT coalesce(array_agg(h.id ORDER BY h.id), '{}') AS conversations, (
    SELECT coalesce(array_agg(DISTINCT m.participant), '{}') FROM members m JOIN registry r ON r.id = m.participant
    WHERE m.conversation = ANY(array_agg(h.id)) AND r.kind IN ('agent', 'external')
) AS agents
FROM conversations_meant($1, $2, $3, $4) h(id);

-- name: desk
-- All that belongs to the conversations $1, and what commands ask for besides: turns $2, running turns of $3, people by name $4
-- or everybody $5, messages by address $6 $7, messages by author and key $8 $9, hosts $10, people's messages below a seq $11 $12 $13.
-- $14 to $16 say once more which conversations are meant. Of a conversation no more than $17 open turns are laid out, unless
-- it is among $18.
SELECT
    (SELECT array_agg(h) FROM conversations_meant($14, $15, $16, $3) h) AS meant,
    (SELECT string_agg(shape, ',') FROM conversation_shape WHERE id = ANY($1::text[])) AS conversations,
    (SELECT string_agg(shape, ',' ORDER BY conversation, position) FROM member_shape WHERE conversation = ANY($1::text[])) AS members,
    (SELECT string_agg(t.shape, ',' ORDER BY t.id) FROM unnest($1::text[]) w(id) CROSS JOIN LATERAL (
        SELECT s.id, s.shape FROM turn_shape s
        WHERE s.conversation = w.id AND s.state IN ('waiting', 'ready', 'held', 'owed', 'running')
        ORDER BY s.id LIMIT CASE WHEN w.id = ANY($18::text[]) THEN NULL ELSE $17::bigint END
    ) t) AS open_turns,
    (SELECT string_agg(r.shape, ',' ORDER BY r.conversation, r.opener) FROM round_shape r WHERE (r.conversation, r.opener) IN (
        SELECT o.conversation, o.opener FROM rounds o WHERE o.conversation = ANY($1::text[]) AND o.state IN ('queued', 'running')
        UNION SELECT t.conversation, t.round FROM turns t
              WHERE t.conversation = ANY($1::text[]) AND t.state IN ('waiting', 'ready', 'held', 'owed', 'running') AND t.round > 0
        UNION SELECT c.id, c.stalled FROM conversations c WHERE c.id = ANY($1::text[]) AND c.stalled > 0
    )) AS rounds,
    (SELECT string_agg(shape, ',') FROM turn_shape WHERE id = ANY($2::bigint[])) AS named_turns,
    (SELECT string_agg(shape, ',') FROM turn_shape
     WHERE agent = ANY($3::text[]) AND state = 'running' AND state IN ('waiting', 'ready', 'held', 'owed', 'running')) AS running,
    (SELECT string_agg(shape, ',' ORDER BY created_us, id) FROM participant_shape WHERE $5::bool OR id IN (
        SELECT m.participant FROM members m WHERE m.conversation = ANY($1::text[])
        UNION ALL SELECT a.participant FROM aliases a WHERE a.name = ANY($4::text[])
    )) AS people,
    (SELECT string_agg(shape, ',') FROM quota_shape WHERE $5::bool OR agent IN (
        SELECT m.participant FROM members m WHERE m.conversation = ANY($1::text[])
        UNION ALL SELECT a.participant FROM aliases a WHERE a.name = ANY($4::text[])
    )) AS quotas,
    (SELECT string_agg(k.shape, ',') FROM tasks_shape k WHERE k.id IN (
        SELECT w.id FROM tasks w JOIN conversations c ON c.id = w.conversation
        WHERE w.conversation = ANY($1::text[]) AND c.kind = 'task'
        UNION SELECT p.id FROM tasks p JOIN conversations c ON c.id = p.asked_in
        WHERE p.asked_in = ANY($1::text[]) AND p.asked_in <> '' AND p.state IN ('open', 'working') AND c.kind = 'task'
    )) AS tasks,
    (SELECT string_agg(m.shape, ',') FROM unnest($6::text[], $7::bigint[]) w(conversation, seq) JOIN message_shape m
     ON m.conversation = w.conversation AND m.seq = w.seq) AS messages,
    (SELECT string_agg(m.shape, ',') FROM unnest($8::text[], $9::text[]) w(sender, key) JOIN message_shape m
     ON m.sender = w.sender AND m.key = w.key AND m.key <> '') AS keyed,
    (SELECT string_agg(shape, ',' ORDER BY id) FROM host_shape WHERE $10::bool) AS hosts,
    (SELECT json_agg(json_build_array(w.conversation, b.seq)) FROM unnest($11::text[], $12::bigint[], $13::bigint[])
         w(conversation, below, most) CROSS JOIN LATERAL (
        SELECT p.seq FROM messages p
        WHERE p.conversation = w.conversation AND p.seq < w.below AND p.kind = 'human'
          AND coalesce(p.metadata::json ->> 'deleted', '0') IN ('0', 'false')
        ORDER BY p.seq DESC LIMIT w.most
    ) b)::text AS by_people,
    (SELECT value FROM counters WHERE name = 'links') AS links,
    others_wrote() AS others;

-- name: kept
-- For a desk that has everything but what only this batch asks for: messages by address $1 $2, by author and key $3 $4. The rest
-- as in `desk` and in `chains`.
SELECT
    (SELECT string_agg(m.shape, ',') FROM unnest($1::text[], $2::bigint[]) w(conversation, seq) JOIN message_shape m
     ON m.conversation = w.conversation AND m.seq = w.seq) AS messages,
    (SELECT string_agg(m.shape, ',') FROM unnest($3::text[], $4::text[]) w(sender, key) JOIN message_shape m
     ON m.sender = w.sender AND m.key = w.key AND m.key <> '') AS keyed,
    (SELECT value FROM counters WHERE name = 'links') AS links,
    others_wrote() AS others,
    pg_current_xact_id()::text AS xid,
    pg_snapshot_xmin(pg_current_snapshot())::text AS oldest,
    (SELECT greatest((SELECT max(id) FROM events), value) FROM counters WHERE name = 'horizon') AS newest,
    pg_current_xact_id()::text::bigint + (SELECT value FROM counters WHERE name = 'base') AS number;

-- name: queues
-- How many open turns there are in conversations of which not all were laid out.
SELECT conversation, count(*) AS turns FROM turns
WHERE conversation = ANY($1::text[]) AND state IN ('waiting', 'ready', 'held', 'owed', 'running') GROUP BY conversation;

-- name: on_the_floor
-- Turns there that do not wait behind others.
SELECT string_agg(t.shape, ',') FROM members m JOIN turn_shape t ON t.agent = m.participant AND t.conversation = m.conversation
WHERE m.conversation = ANY($1::text[]) AND t.state IN ('ready', 'held', 'owed', 'running')
  AND t.state IN ('waiting', 'ready', 'held', 'owed', 'running');

-- name: chains
-- Chains $1 and limiters $2 $3; and the number of this transaction, drawn now that its conversations are locked. Where all
-- smaller ones had ended as this looked (the oldest is this one), the newest event is the one right before its own.
SELECT
    (SELECT string_agg(shape, ',') FROM root_shape WHERE id = ANY($1::text[])) AS roots,
    (SELECT string_agg(p.shape, ',') FROM unnest($2::text[], $3::text[]) w(sender, receiver) JOIN pair_shape p
     ON p.sender = w.sender AND p.receiver = w.receiver) AS pairs,
    pg_current_xact_id()::text AS xid,
    pg_snapshot_xmin(pg_current_snapshot())::text AS oldest,
    (SELECT greatest((SELECT max(id) FROM events), value) FROM counters WHERE name = 'horizon') AS newest,
    pg_current_xact_id()::text::bigint + (SELECT value FROM counters WHERE name = 'base') AS number;

-- name: roots
-- Chains by id.
SELECT string_agg(shape, ',') FROM root_shape WHERE id = ANY($1::text[]);

-- name: pairs
-- Limiters by sender and receiver.
SELECT string_agg(p.shape, ',') FROM unnest($1::text[], $2::text[]) w(sender, receiver) JOIN pair_shape p
ON p.sender = w.sender AND p.receiver = w.receiver;

-- name: quotas
-- What agents used of their hour.
SELECT string_agg(shape, ',') FROM quota_shape WHERE agent = ANY($1::text[]);

-- name: people
-- Participants by id.
SELECT string_agg(shape, ',') FROM participant_shape WHERE id = ANY($1::text[]);

-- name: hosts
-- Hosts by id.
SELECT string_agg(shape, ',') FROM host_shape WHERE id = ANY($1::text[]);
