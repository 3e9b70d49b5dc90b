-- Who is waited for is said in a chat once; what guests want is counted by the store; queues are read chat by chat.

ALTER TABLE bridge_chats ADD COLUMN notice text COLLATE "C" NOT NULL DEFAULT '';
ALTER TABLE bridge_accounts ADD COLUMN order_minute bigint NOT NULL DEFAULT 0;
ALTER TABLE bridge_accounts ADD COLUMN orders bigint NOT NULL DEFAULT 0;
CREATE INDEX bridge_posts_queue ON bridge_posts ((bridge || '/' || chat)) WHERE state = 'queued';
CREATE INDEX arrivals_became ON arrivals ((conversation || ':' || seq)) WHERE seq > 0;
