"""The limit on PostgreSQL: the same rows written by asyncpg with group commit and nothing else. No rules, no chain.

It writes what a post of ours writes (message with its words, event, conversation, turn) into the very same schema, one
transaction per batch, by the quickest ways asyncpg has: COPY for what is new, one statement per table for the rest.
"""

import asyncio
from collections import deque
from itertools import count
from typing import Any

import asyncpg

from bench.raw import CALLS, HASH, NOW, PLAN
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.message import Message
from moot.model.participant import Kind
from moot.stores.postgres.address import address_of
from moot.stores.postgres.engine import PostgresEngine
from moot.stores.postgres.search import searchable
from moot.stores.postgres.server import Server

PROBE = "SELECT conversation, seq FROM messages WHERE sender = $1 AND key = ANY($2::text[]) AND key <> ''"
MESSAGE = [
    "conversation",
    "seq",
    "sender",
    "kind",
    "content",
    "root",
    "hop",
    "at_us",
    "mentions",
    "reply_to",
    "intent",
    "version",
    "turn",
    "round",
    "depth",
    "metadata",
    "plan",
    "key",
    "digest",
    "chain_place",
    "hash",
    "number",
    "said",
    "traits",
]
EVENT = ["type", "at_us", "conversation", "by", "seq", "turn", "body", "id"]
CONVERSATION = (
    "UPDATE conversations c SET next_seq = n.seq + 1, chain = $3, chain_length = n.seq, updated_us = $4, last_human = n.seq "
    "FROM unnest($1::text[], $2::bigint[]) n (id, seq) WHERE c.id = n.id"
)
TURN = "UPDATE turns t SET calls = n.calls, duty = 'must' FROM unnest($1::bigint[], $2::text[]) n (id, calls) WHERE t.id = n.id"
SEED_CONVERSATION = (
    "INSERT INTO conversations (id, name, kind, created_us, updated_us, settings, next_seq, chain, chain_length, version,"
    " archived, key, channel_type, channel_group_id, last_human, answered, stalled, blocked, epoch, summarised)"
    " VALUES ($1, $1, 'group', 0, 0, '{}', 1, '', 0, 1, 0, '', '', '', 0, 0, 0, '[]', 0, 0)"
)
SEED_TURN = (
    "INSERT INTO turns (id, agent, conversation, duty, reason, state, calls, created_us, round, place, lo, hi, shared, late,"
    ' resumed, interrupted, cause, root, hop, depth, charged, due, lease, deadline, "limit", fence, attempt, posts,'
    " started_at, ended_at, message, error, kept, steps, stopping)"
    " VALUES ($1, 'b', $2, 'must', 'mention', 'owed', '[]', 0, 1, 1, 0, 0, 0, 1, 0, 0, 0, 'r', 0, 0, '[]', 0, 0, 0, 0, 0, 0, 0,"
    " 0, 0, 0, '', '', '[]', 0)"
)


class RawPostgresWriter:
    """One connection, one transaction per batch of what waits."""

    def __init__(self, connection: Any, turns: dict[str, int]) -> None:
        self._connection = connection
        self._turns = turns
        self._seq = dict.fromkeys(turns, 1)
        self._numbers = count(1)
        self._waiting: deque[tuple[str, str, str, asyncio.Future[int]]] = deque()
        self._work = asyncio.Event()
        self._task = asyncio.create_task(self._write())

    @classmethod
    async def open(cls, url: str, turns: dict[str, int]) -> "RawPostgresWriter":
        address = address_of(url)
        engine = await PostgresEngine.open(Server(address))  # makes the schema
        await engine.close()
        connection = await asyncpg.connect(
            address.dsn, server_settings={"search_path": address.schema, "jit": "off"}
        )
        await connection.executemany(SEED_CONVERSATION, [(where,) for where in turns])
        await connection.executemany(SEED_TURN, [(number, where) for where, number in turns.items()])
        return cls(connection, turns)

    async def post(self, where: str, text: str, key: str) -> int:
        done: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((where, text, key, done))
        self._work.set()
        return await done

    async def _write(self) -> None:
        while True:
            await self._work.wait()
            self._work.clear()
            while self._waiting:
                jobs = [self._waiting.popleft() for _ in range(min(len(self._waiting), 512))]
                for done, seq in await self._commit(jobs):
                    done.set_result(seq)

    async def _commit(self, jobs: list[tuple[str, str, str, Any]]) -> list[tuple[Any, int]]:
        messages, events, touched, acks = [], [], {}, []
        for where, text, key, done in jobs:
            seq, number = self._seq[where], next(self._numbers)
            self._seq[where] = seq + 1
            words = searchable(_message(where, seq, text))
            messages.append((where, seq, "user", "human", text, f"{where}:{seq}", 0, NOW, '["b"]', 0, "", 1, None, seq, 0,
                             "{}", PLAN, key, HASH, seq, HASH, number, *words))  # fmt: skip
            events.append(("message.posted", NOW, where, "user", seq, None, None, number))
            touched[where] = seq
            acks.append((done, seq))
        connection = self._connection
        async with connection.transaction():
            await connection.fetch(PROBE, "user", [key for _, _, key, _ in jobs])
            await connection.copy_records_to_table("messages", records=messages, columns=MESSAGE)
            await connection.execute(CONVERSATION, list(touched), list(touched.values()), HASH, NOW)
            calls = [CALLS[seq % 2] for seq in touched.values()]
            await connection.execute(TURN, [self._turns[where] for where in touched], calls)
            await connection.copy_records_to_table("events", records=events, columns=EVENT)
        return acks

    async def close(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)
        await self._connection.close()


def _message(where: str, seq: int, text: str) -> Message:
    """As much of one as its words are cut from."""
    return Message(
        ConversationId(where), seq, ParticipantId("user"), Kind.HUMAN, text, RootId(f"{where}:{seq}"), 0, 0.0
    )
