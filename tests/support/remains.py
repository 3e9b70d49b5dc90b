"""What is left in a home when all processes are gone: everything stored, read with nothing but the read ports."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import apsw
import asyncpg
from msgspec import Struct

from moot.model.conversation import Conversation, Member
from moot.model.event import Event
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.limits import Terms
from moot.model.message import Message, Revision
from moot.model.participant import Participant
from moot.model.round import Round
from moot.model.turn import Turn
from moot.ports import Page, Reads
from moot.stores.postgres.address import address_of
from moot.stores.postgres.reads import reads_of
from moot.stores.postgres.soundness import read_all
from moot.stores.sqlite.reads import SqliteReads

ALL = 1_000_000


class Remains(Struct, frozen=True, kw_only=True):
    """One store at its end."""

    conversations: dict[ConversationId, Conversation] = {}
    members: dict[ConversationId, dict[ParticipantId, Member]] = {}
    messages: dict[ConversationId, list[Message]] = {}
    revisions: dict[ConversationId, list[Revision]] = {}
    rounds: dict[tuple[ConversationId, int], Round] = {}
    turns: list[Turn] = []
    events: list[Event] = []
    participants: dict[ParticipantId, Participant] = {}
    charged: dict[RootId, int] = {}
    """Turns each chain was charged for."""
    verdicts: tuple[str, ...] = ("ok",)
    """What the check of the database said."""
    terms: Terms = Terms()
    at_rest: bool = True
    """Everybody was given the time to finish: nothing may still be open but owed turns."""

    def all_messages(self) -> Iterable[Message]:
        for messages in self.messages.values():
            yield from messages


async def gather(home: Path, *, terms: Terms | None = None, at_rest: bool = True) -> Remains:
    path = home / "moot.db"
    return await _gathered(
        SqliteReads(path), charges(path), integrity(path), terms=terms or Terms(), at_rest=at_rest
    )


async def gather_from_postgres(url: str, *, terms: Terms | None = None, at_rest: bool = True) -> Remains:
    """The same of a database on a server."""
    connection = await asyncpg.connect(url, server_settings={"search_path": "moot"})
    try:
        charged = {
            RootId(root): turns for root, turns in await connection.fetch("SELECT id, turns FROM roots")
        }
        _, problems = await read_all(connection)
    finally:
        await connection.close()
    verdicts = tuple(problems) or ("ok",)
    reads = reads_of(address_of(url))
    return await _gathered(reads, charged, verdicts, terms=terms or Terms(), at_rest=at_rest)


async def _gathered(
    reads: Reads, charged: dict[RootId, int], verdicts: tuple[str, ...], *, terms: Terms, at_rest: bool
) -> Remains:
    try:
        found = [
            conversation
            for archived in (False, True)
            for conversation in await reads.conversations(archived=archived, kind=None)
        ]
        messages = {c.id: await reads.messages(c.id, Page(limit=ALL)) for c in found}
        rounds: dict[tuple[ConversationId, int], Round] = {}
        for where, said in messages.items():
            for opener in sorted({message.round for message in said if message.round}):
                round_ = await reads.round(where, opener)
                if round_ is not None:
                    rounds[where, opener] = round_
        return Remains(
            conversations={c.id: c for c in found},
            members={c.id: {m.participant: m for m in await reads.members(c.id)} for c in found},
            messages=messages,
            revisions={c.id: await reads.revisions(c.id) for c in found},
            rounds=rounds,
            turns=await reads.turns(limit=ALL),
            events=await reads.events(after=0, limit=ALL),
            participants={who.id: who for who in await reads.participants()},
            charged=charged,
            verdicts=verdicts,
            terms=terms,
            at_rest=at_rest,
        )
    finally:
        await reads.close()


def integrity(path: Path) -> tuple[str, ...]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return tuple(str(text) for (text,) in connection.execute("PRAGMA integrity_check"))
    finally:
        connection.close()


def charges(path: Path) -> dict[RootId, int]:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return {RootId(root): turns for root, turns in connection.execute("SELECT id, turns FROM roots")}
    finally:
        connection.close()
