-- Whoever was taken out is not merely paused: it is in no list, gets no broadcast, and whoever writes to it is told.

ALTER TABLE registry ADD COLUMN removed_at REAL NOT NULL DEFAULT 0;  -- 0 while it is in
