-- On which machine a host runs: elsewhere its process id means nothing. Empty where nobody wrote it down.

ALTER TABLE hosts ADD COLUMN machine TEXT NOT NULL DEFAULT '';
