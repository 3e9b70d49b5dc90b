-- A token that was issued with another one ends with it.

ALTER TABLE tokens ADD COLUMN parent TEXT NOT NULL DEFAULT '';
