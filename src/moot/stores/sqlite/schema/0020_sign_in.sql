-- What a token is for: a program, a browser in which somebody signed in, or one sign-in; and how long it is good.

ALTER TABLE tokens ADD COLUMN kind TEXT NOT NULL DEFAULT 'program';
ALTER TABLE tokens ADD COLUMN expires_at REAL NOT NULL DEFAULT 0;
