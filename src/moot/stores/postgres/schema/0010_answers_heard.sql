-- What came of a question, until whoever asked has heard it: the message that answers it, -1 where there is none.

ALTER TABLE waits ADD COLUMN answer bigint NOT NULL DEFAULT 0;

CREATE INDEX waits_left ON waits (until) WHERE host = '' AND answer = 0;
