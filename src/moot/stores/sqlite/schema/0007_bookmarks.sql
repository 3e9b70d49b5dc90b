-- How far clients of the WebSocket have read, by the name each gave itself.

CREATE TABLE bookmarks (
    participant  TEXT NOT NULL,
    client       TEXT NOT NULL,
    conversation TEXT NOT NULL,
    seq          INTEGER NOT NULL,  -- all up to here has surely arrived
    frames       INTEGER NOT NULL,  -- messages handed out before, since the client first came
    used_at      REAL NOT NULL,
    PRIMARY KEY (participant, client, conversation)
) STRICT, WITHOUT ROWID;
CREATE INDEX bookmarks_in ON bookmarks (conversation);
