-- What turns under way have set aside of their budgets, and what a person has allowed beyond one.

CREATE TABLE reservations (
    turn bigint PRIMARY KEY,
    conversation text COLLATE "C" NOT NULL,
    agent text COLLATE "C" NOT NULL,
    root text COLLATE "C" NOT NULL,
    day bigint NOT NULL,
    above text COLLATE "C" NOT NULL,
    usd double precision NOT NULL,
    tokens bigint NOT NULL,
    alone bigint NOT NULL,
    until double precision NOT NULL
);

CREATE INDEX reservations_in ON reservations (conversation);

ALTER TABLE turns ADD COLUMN reserved bigint NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN raised_usd double precision NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN raised_tokens bigint NOT NULL DEFAULT 0;
ALTER TABLE spending ADD COLUMN begun bigint NOT NULL DEFAULT 0;
