-- What a token is for: a program, a browser in which somebody signed in, or one sign-in; and how long it is good.

ALTER TABLE tokens ADD COLUMN kind text COLLATE "C" NOT NULL DEFAULT 'program';
ALTER TABLE tokens ADD COLUMN expires_at double precision NOT NULL DEFAULT 0;
