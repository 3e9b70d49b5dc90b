-- Search by who, where, what and when. The full-text index also holds the traits of a message, as made-up words:
-- one look-up meets words and filters alike, and a post pays nothing for it. The index is built anew by the writer.

DROP TABLE message_words;
UPDATE counters SET value = 0 WHERE name = 'indexed';

-- Traits: k kind, f author, c conversation, g kind of conversation, t mentioned, h what it holds, m what became of it.
-- None of them changes without the message being taken out of the index before and put back behind.
CREATE VIEW searchable AS
SELECT m.row, m.conversation, m.seq, m.content,
    'k' || m.kind || ' f' || hex(m.sender) || ' c' || hex(m.conversation)
    || ' g' || coalesce((SELECT c.kind FROM conversations c WHERE c.id = m.conversation), '')
    || coalesce((SELECT group_concat(' t' || hex(j.value), '') FROM json_each(m.mentions) j), '')
    || iif(instr(m.content, 'http://') OR instr(m.content, 'https://'), ' hlink', '')
    || iif(m.content GLOB '*`*`*' OR instr(m.content, '~~~'), ' hcode', '')
    || iif(m.mentions <> '[]', ' hmention', '')
    || iif(m.reply_to > 0, ' hreply', '')
    || iif(m.version > 1, iif(m.content = '', ' mdeleted', ' medited'), '')
    || iif(json_valid(m.metadata) AND json_extract(m.metadata, '$.partial') = 1, ' mpartial', '') AS traits
FROM messages m;

CREATE VIRTUAL TABLE message_words USING fts5 (
    content, traits, content = 'searchable', content_rowid = 'row', tokenize = 'unicode61 remove_diacritics 2'
);

-- The earliest and the latest moment in each thousand rows or so: which rows a time can lie in, without an index that
-- every post would have to keep. What is imported lies late in the table and early in time, so this is no order.
CREATE TABLE message_times (
    block   INTEGER PRIMARY KEY,  -- row / 1024
    from_us INTEGER NOT NULL,
    upto_us INTEGER NOT NULL
) STRICT;

CREATE INDEX members_of ON members (participant, conversation);
