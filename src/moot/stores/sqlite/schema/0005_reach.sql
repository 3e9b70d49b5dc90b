-- How an outside agent can be reached between its waits: by which door it came, how soon it will look, until when.

ALTER TABLE registry ADD COLUMN door TEXT NOT NULL DEFAULT '';
ALTER TABLE registry ADD COLUMN reach TEXT NOT NULL DEFAULT 'away';
ALTER TABLE registry ADD COLUMN reach_until REAL NOT NULL DEFAULT 0;
