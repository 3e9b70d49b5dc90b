-- `link` means a link between two agents from here on: the entries of the audit chains get names of their own.

ALTER TABLE conversations RENAME COLUMN links TO chain_length;
ALTER TABLE messages RENAME COLUMN link TO chain_place;
ALTER TABLE revisions RENAME COLUMN link TO chain_place;
