-- Conversations as docmem trees: a root without content, a text node for each message, a summary node for each epoch.
-- The context of a node is `type:agent:ID`, of its author; ids never change, names may.

CREATE VIEW nodes AS
SELECT c.id AS id, NULL AS parent, c.id AS conversation, 0 AS seq, '' AS context, '' AS content, c.version AS version,
       c.created_at AS created_at
FROM conversations c
UNION ALL
SELECT m.id, m.conversation, m.conversation, m.seq, 'text:agent:' || m.sender, m.content, m.version, m.created_at
FROM messages m
UNION ALL
SELECT s.conversation || ':s' || s.epoch, s.conversation, s.conversation, s.upto, 'summary:agent:' || s.by, s.content,
       s.version, s.created_at
FROM summaries s;
