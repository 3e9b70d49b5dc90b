-- In which process an agent waits for an answer: with that its wait ends.

ALTER TABLE waits ADD COLUMN host TEXT NOT NULL DEFAULT '';
