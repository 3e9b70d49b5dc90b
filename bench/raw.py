"""The limit: the same rows written by APSW with group commit and nothing else. No rules, no values, no chain.

It writes what a post of ours writes (message, event, conversation, turn) into the very same schema, with the same
probe of the idempotency key, from the same kind of producers and the same kind of writer thread.
"""

import asyncio
import threading
from collections import deque
from pathlib import Path
from typing import Any

from moot.stores.sqlite.file import database, migrate
from moot.stores.sqlite.file.lock import OpenMark, WriterLock

PROBE = "SELECT conversation, seq FROM messages WHERE sender = ? AND key = ? AND key <> ''"
MESSAGE = (
    "INSERT INTO messages (conversation, seq, sender, kind, content, root, hop, at_us, mentions, reply_to, intent,"
    " version, turn, round, depth, metadata, plan, key, digest, chain_place, hash)"
    " VALUES (?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"
)
CONVERSATION = "UPDATE conversations SET next_seq = ?, chain = ?, chain_length = ?, updated_us = ?, last_human = ? WHERE id = ?"
EVENT = "INSERT INTO events (type, at_us, conversation, by, seq, turn, body, id) VALUES (?,?,?,?,?,?,?,?)"
TURN = "UPDATE turns SET calls = ?, duty = ? WHERE id = ?"
HASH = "0" * 64
PLAN = '[[["b","must","mention"]],["observes","away"]]'
NOW = 1_800_000_000_000_000
CALLS = tuple(
    "[" + ",".join([f'["b",{seq},true,1,0,"c0k3v9z8x2ab4qd:{seq}","mention",0,0.0]'] * 8) + "]"
    for seq in (1234, 1235)
)
"""Two, taken in turn: a row that is written as it was is left alone by SQLite, and ours are never as they were."""


class RawWriter:
    """`by_table` gathers the rows of a batch per table and touches a conversation once, as our engine does;
    without it each post runs its own statements inside the batch's transaction, as a writer by hand would."""

    def __init__(
        self, home: Path, conversations: list[str], turns: dict[str, int], *, by_table: bool
    ) -> None:
        self._by_table = by_table
        path = database.prepare_home(home)
        lock, mark = WriterLock(home / "run" / "writer.lock"), OpenMark(home / "run" / "open.lock")
        self._db = database.opened(path, lock, mark, migrate.shipped())
        lock.close()
        self._seq = dict.fromkeys(conversations, 1)
        self._turns = turns
        self._event = 1
        self._waiting: deque[tuple[str, str, str, asyncio.Future[int]]] = deque()
        self._work = threading.Condition()
        self._closing = False
        self._loop = asyncio.get_running_loop()
        self._seed(conversations)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def _seed(self, conversations: list[str]) -> None:
        with self._db:
            for where in conversations:
                self._db.execute(
                    "INSERT INTO conversations (id, name, kind, created_us, updated_us, settings, next_seq, chain,"
                    " chain_length, version, archived, key, channel_type, channel_group_id, last_human, answered, stalled,"
                    " blocked) VALUES (?, ?, 'group', 0, 0, '{}', 1, '', 0, 1, 0, '', '', '', 0, 0, 0, '[]')",
                    (where, where),
                )
                self._db.execute(
                    "INSERT INTO turns (id, agent, conversation, duty, reason, state, calls, created_us, round, place,"
                    " lo, hi, shared, late, resumed, interrupted, cause, root, hop, depth, charged, due, lease,"
                    ' deadline, "limit", fence, attempt, posts, started_at, ended_at, message, error, kept)'
                    " VALUES (?, 'b', ?, 'must', 'mention', 'owed', '[]', 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 'r', 0, 0,"
                    " '[]', 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, '', '')",
                    (self._turns[where], where),
                )

    async def post(self, where: str, text: str, key: str) -> int:
        done: asyncio.Future[int] = self._loop.create_future()
        with self._work:
            self._waiting.append((where, text, key, done))
            if len(self._waiting) == 1:
                self._work.notify()
        return await done

    def _write(self) -> None:
        while True:
            with self._work:
                while not self._waiting and not self._closing:
                    self._work.wait()
                if not self._waiting:
                    break
                jobs = [self._waiting.popleft() for _ in range(min(len(self._waiting), 512))]
            self._loop.call_soon_threadsafe(self._settle, self._commit(jobs))
        self._db.close()

    def _commit(self, jobs: list[tuple[str, str, str, Any]]) -> list[tuple[Any, int]]:
        db, messages, events, touched, acks = self._db, [], [], {}, []
        db.execute("BEGIN IMMEDIATE")
        for where, text, key, done in jobs:
            if not self._by_table:
                acks.append((done, self._post(where, text, key)))
                continue
            db.execute(PROBE, ("user", key)).fetchone()
            seq = self._seq[where]
            self._seq[where] = seq + 1
            messages.append((where, seq, "user", "human", text, f"{where}:{seq}", 0, NOW, '["b"]', 0,
                             "", 1, None, seq, 0, "{}", PLAN, key, HASH, seq, HASH))  # fmt: skip
            events.append(("message.posted", NOW, where, "user", seq, None, None, self._event))
            self._event += 1
            touched[where] = seq
            acks.append((done, seq))
        if not self._by_table:
            db.execute("COMMIT")
            return acks
        db.executemany(MESSAGE, messages)
        db.executemany(CONVERSATION, [(s + 1, HASH, s, NOW, s, where) for where, s in touched.items()])
        db.executemany(TURN, [(CALLS[s % 2], "must", self._turns[where]) for where, s in touched.items()])
        db.executemany(EVENT, events)
        db.execute("COMMIT")
        return acks

    def _post(self, where: str, text: str, key: str) -> int:
        db, seq = self._db, self._seq[where]
        self._seq[where] = seq + 1
        db.execute(PROBE, ("user", key)).fetchone()
        row = (where, seq, "user", "human", text, f"{where}:{seq}", 0, NOW, '["b"]', 0, "", 1,
               None, seq, 0, "{}", PLAN, key, HASH, seq, HASH)  # fmt: skip
        db.execute(MESSAGE, row)
        db.execute(CONVERSATION, (seq + 1, HASH, seq, NOW, seq, where))
        db.execute(TURN, (CALLS[seq % 2], "must", self._turns[where]))
        db.execute(EVENT, ("message.posted", NOW, where, "user", seq, None, None, self._event))
        self._event += 1
        return seq

    def _settle(self, acks: list[tuple[Any, int]]) -> None:
        for done, seq in acks:
            done.set_result(seq)

    async def close(self) -> None:
        with self._work:
            self._closing = True
            self._work.notify()
        await asyncio.to_thread(self._thread.join)


class NullWriter(RawWriter):
    """Acknowledges from the same kind of thread and writes nothing."""

    def _commit(self, jobs: list[tuple[str, str, str, Any]]) -> list[tuple[Any, int]]:
        return [(done, 0) for _, _, _, done in jobs]
