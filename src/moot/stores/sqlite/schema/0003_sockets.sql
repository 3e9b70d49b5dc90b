-- Where a host can be pinged, and whether it also wants to be told what concerns none of its agents.

ALTER TABLE hosts ADD COLUMN socket TEXT NOT NULL DEFAULT '';
ALTER TABLE hosts ADD COLUMN watches INTEGER NOT NULL DEFAULT 0;
