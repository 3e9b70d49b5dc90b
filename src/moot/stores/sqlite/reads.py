"""The read ports over read-only connections, beside the writer and never in its way.

Small reads run where they are asked for: they take less time than going to another thread and back. What can
be long (search, listings, whole pages) goes to the readers' threads.
"""

import asyncio
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import apsw
from msgspec import json

from moot.model.chain import Pair, Root
from moot.model.conversation import Conversation, Member
from moot.model.event import Event
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.message import ConversationGlance, Message, Revision, Summary
from moot.model.moment import micros
from moot.model.participant import Host, Participant, Quota
from moot.model.query import Query
from moot.model.records.audit import AUDIT_ENTRIES, AuditEntry, AuditQuery, ChainEnd
from moot.model.records.link import LINKS
from moot.model.records.outbox import OUTBOX, OutboxDepth, OutboxRow
from moot.model.records.record import ALL, Lookup, R
from moot.model.round import Round
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import AuditReport, ConversationVersion, Page
from moot.rules.audit import KnownHead
from moot.rules.graph import NO_LINKS, Graph
from moot.stores import glances, rows
from moot.stores.sqlite import search
from moot.stores.sqlite.engine import NO_END
from moot.stores.sqlite.file import database, migrate, soundness
from moot.stores.sqlite.file.untrusted import close_to_others
from moot.stores.sqlite.statements import AUDIT, READ, RECORDS, SEARCH, query_for
from moot.stores.sqlite.trouble import moot_errors

T = TypeVar("T")

THREADS = 2
SMALL_PAGE = 32
"""Messages, turns or events that may be read on the event loop: about 0.1 ms."""


def reads_of(home: Path) -> "SqliteReads":
    """Reads alone, beside whatever hub may run; of a newer database too, where it says that we still can."""
    path = home / "moot.db"
    with moot_errors(path):
        close_to_others(path)
        database.look_at(path)
        migrate.known_version(path, migrate.shipped(), reading=True)
    return SqliteReads(path)


def is_current(home: Path) -> bool:
    """Whether a database has today's shape, so that it can be read without bringing it up to date first."""
    path = home / "moot.db"
    with moot_errors(path):
        close_to_others(path)
        database.look_at(path)
        steps = migrate.shipped()
        return migrate.known_version(path, steps, reading=True) >= steps[-1].number


class SqliteReads:
    """Conversations, Search, Turns, Recall, People and Events of ports.py."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._here = self._open()
        self._there = threading.local()
        self._opened: list[apsw.Connection] = [self._here]
        self._links, self._graph_version = NO_LINKS, -1
        self._threads = ThreadPoolExecutor(THREADS, "moot-reader", initializer=self._start_thread)

    async def close(self) -> None:
        await asyncio.to_thread(self._threads.shutdown)
        for connection in self._opened:
            connection.close()

    def _open(self) -> apsw.Connection:
        with moot_errors(self._path):
            connection = database.reader(self._path)
            database.give_shapes(connection)
        return connection

    def _start_thread(self) -> None:
        self._there.connection = self._open()
        self._opened.append(self._there.connection)

    def _get(self, statement: str, *values: Any) -> Any:
        """The one value of a small result, read here and now."""
        with moot_errors(self._path):
            return self._here.execute(statement, values).get

    async def verify(
        self, heads: Mapping[str, KnownHead], progress: Callable[[int], None] = lambda messages: None
    ) -> AuditReport:
        """Walk every chain, and compare with where chains stood once."""
        return await self._long(lambda connection: soundness.verify(connection, heads, progress))

    async def audit_entries(self, query: AuditQuery) -> list[AuditEntry]:
        found: list[AuditEntry] = await self._many(
            rows.RECORDS[AUDIT_ENTRIES.name],
            AUDIT.entries,
            micros(query.since),
            micros(query.before) if query.before else NO_END,
            query.agent,
            _listed(query.subjects),
            _listed(query.acts),
            query.limit,
        )
        return found

    async def chain_ends(self, *, since: float) -> list[ChainEnd]:
        def ends(connection: apsw.Connection) -> list[Any]:
            return connection.execute(AUDIT.ends, (micros(since),)).fetchall()

        return [ChainEnd(*end) for end in await self._long(ends)]

    async def _long(self, work: Callable[[apsw.Connection], T]) -> T:
        """Run a read that may take long in a reader's thread."""

        def there() -> T:
            with moot_errors(self._path):
                return work(self._there.connection)

        return await asyncio.get_running_loop().run_in_executor(self._threads, there)

    async def _many(self, of: rows.Rows[Any], statement: str, *values: Any) -> Any:
        return await self._long(lambda connection: of.many(connection.execute(statement, values).get))

    async def _page(self, of: rows.Rows[Any], statement: str, limit: int, *values: Any) -> Any:
        """A result that an index gives in order: read here while it is small, by a reader's thread if not."""
        limit = max(limit, 0)
        with moot_errors(self._path):
            found = of.many(self._here.execute(statement, (min(limit, SMALL_PAGE + 1), *values)).get)
        if len(found) <= SMALL_PAGE or limit <= SMALL_PAGE + 1:
            return found
        return await self._many(of, statement, limit, *values)

    def _one(self, of: rows.Rows[Any], statement: str, *values: Any) -> Any:
        with moot_errors(self._path):
            shape = self._here.execute(statement, values).get
            return None if shape is None else of.one(shape)

    # --- Conversations -----------------------------------------------------------------------------------

    async def conversation(self, ref: str) -> Conversation | None:
        found: Conversation | None = self._one(rows.CONVERSATIONS, READ.conversation, ref)
        return found

    async def version(self, ref: str, member: ParticipantId | None = None) -> ConversationVersion | None:
        with moot_errors(self._path):
            if member is None:
                found = self._here.execute(READ.version, (ref,)).get
                return None if found is None else ConversationVersion(*found)
            found = self._here.execute(READ.version_for, (ref, member)).get
            return None if found is None else ConversationVersion(found[0], found[1], bool(found[2]))

    async def conversations(self, *, archived: bool, kind: str | None) -> list[Conversation]:
        found: list[Conversation] = await self._many(rows.CONVERSATIONS, READ.conversations, archived, kind)
        return found

    async def members(self, conversation: ConversationId) -> list[Member]:
        with moot_errors(self._path):
            return rows.MEMBERS.many(self._here.execute(READ.members, (conversation,)).get)

    async def members_everywhere(self, *, archived: bool) -> list[Member]:
        found: list[Member] = await self._many(rows.MEMBERS, READ.members_everywhere, archived)
        return found

    async def glances(self, reader: ParticipantId, *, archived: bool, limit: int) -> list[ConversationGlance]:
        newest: list[Message] = await self._many(rows.MESSAGES, READ.newest_everywhere, archived)
        unread = await self._long(
            lambda connection: connection.execute(READ.unread_everywhere, (archived, reader, limit)).get
        )
        return glances.beside(newest, unread)

    async def messages(self, conversation: ConversationId, page: Page) -> list[Message]:
        statement = READ.messages_newest if page.newest else READ.messages_after
        end = NO_END if page.before is None else page.before
        found: list[Message] = await self._page(
            rows.MESSAGES, statement, page.limit, conversation, page.after, end
        )
        return found[::-1] if page.newest else found

    async def message(self, conversation: ConversationId, seq: int) -> Message | None:
        found: Message | None = self._one(rows.MESSAGES, READ.message, conversation, seq)
        return found

    async def revisions(self, conversation: ConversationId) -> list[Revision]:
        found: list[Revision] = await self._many(rows.REVISIONS, READ.revisions, conversation)
        return found

    # --- Search ------------------------------------------------------------------------------------------

    async def search(self, query: Query, limit: int) -> list[tuple[Message, str]]:
        return await self._long(lambda connection: search.found(connection, query, limit))

    async def count(self, query: Query, limit: int) -> int:
        return await self._long(lambda connection: search.counted(connection, query, limit))

    def index_is_behind(self) -> bool:
        """Whether messages were stored that the full-text index does not know yet."""
        return int(self._get(SEARCH.newest_row)) > int(self._get(SEARCH.indexed) or 0)

    # --- Turns -------------------------------------------------------------------------------------------

    async def turn(self, turn: TurnId) -> Turn | None:
        found: Turn | None = self._one(rows.TURNS, READ.turn, turn)
        return found

    async def turns(
        self,
        *,
        conversation: ConversationId | None = None,
        agent: ParticipantId | None = None,
        states: Sequence[TurnState] = (),
        limit: int = 1000,
    ) -> list[Turn]:
        wanted = json.encode(states).decode()
        only_open = bool(states) and OPEN.issuperset(states)
        if conversation is not None:
            here = (limit, wanted, agent, conversation)
            if only_open:
                found = await self._page(rows.TURNS, READ.turns_open_of_conversation, *here)
            else:
                found = await self._many(rows.TURNS, READ.turns_of_conversation, *here)
        elif not only_open:
            found = await self._many(rows.TURNS, READ.turns, limit, wanted, agent)
        elif agent is not None:
            found = await self._page(rows.TURNS, READ.turns_open_of_agent, limit, wanted, agent)
        else:
            found = await self._many(rows.TURNS, READ.turns_open, limit, wanted)
        oldest_first: list[Turn] = found[::-1]
        return oldest_first

    async def turns_about(self, conversation: ConversationId, seq: int) -> list[Turn]:
        found: list[Turn] = await self._many(rows.TURNS, READ.turns_about, conversation, seq)
        return found

    async def round(self, conversation: ConversationId, opener: int) -> Round | None:
        found: Round | None = self._one(rows.ROUNDS, READ.round, conversation, opener)
        return found

    async def due(self, now: float) -> list[ConversationId]:
        with moot_errors(self._path):
            return [ConversationId(where) for (where,) in self._here.execute(READ.due, (now,))]

    async def next_due(self) -> float | None:
        found: float | None = self._get(READ.next_due)
        return found

    # --- Recall ------------------------------------------------------------------------------------------

    async def secret(self) -> str:
        return str(self._get(READ.secret))

    async def summary(self, conversation: ConversationId, *, upto: int) -> Summary | None:
        found: Summary | None = self._one(rows.SUMMARIES, READ.summary, conversation, upto)
        return found

    async def summary_of(self, conversation: ConversationId, epoch: int) -> Summary | None:
        found: Summary | None = self._one(rows.SUMMARIES, READ.summary_of, conversation, epoch)
        return found

    async def turns_before(self, turn: Turn, *, reading_to: int, limit: int) -> list[Turn]:
        found: list[Turn] = await self._page(
            rows.TURNS, READ.turns_before, limit, turn.conversation, turn.agent, reading_to, turn.id
        )
        return found[::-1]

    async def text(self, digest: str) -> str | None:
        found: str | None = self._get(READ.text, digest)
        return found

    # --- People and events -------------------------------------------------------------------------------

    async def participants(self) -> list[Participant]:
        found: list[Participant] = await self._many(rows.PARTICIPANTS, READ.participants)
        return found

    async def participant(self, name: str) -> Participant | None:
        found: Participant | None = self._one(rows.PARTICIPANTS, READ.participant, name)
        return found

    async def hosts(self) -> list[Host]:
        with moot_errors(self._path):
            return rows.HOSTS.many(self._here.execute(READ.hosts).get)

    async def graph(self) -> Graph:
        version = self._get(READ.links_version)
        if version != self._graph_version:
            self._links, self._graph_version = Graph(await self.records(LINKS.all())), version
        return self._links

    async def note_count(self) -> int:
        count: int = self._get(READ.note_count)
        return count

    async def records(self, lookup: Lookup[R]) -> list[R]:
        statement, values = query_for((lookup,))
        of: rows.Rows[R] = rows.RECORDS[lookup.table.name]
        wanted = json.encode(values).decode()
        if lookup.by == ALL:
            found: list[R] = await self._many(of, statement, wanted)
            return found
        with moot_errors(self._path):
            return of.many(self._here.execute(statement, (wanted,)).get)

    async def pairs(self, *, since: float) -> list[Pair]:
        found: list[Pair] = await self._many(rows.PAIRS, READ.pairs, since)
        return found

    async def quotas(self) -> list[Quota]:
        found: list[Quota] = await self._many(rows.QUOTAS, READ.quotas)
        return found

    async def root(self, root: RootId) -> Root | None:
        found: Root | None = self._one(rows.ROOTS, READ.root, root)
        return found

    async def events(
        self,
        *,
        after: int,
        conversation: ConversationId | None = None,
        types: Sequence[str] = (),
        limit: int = 500,
    ) -> list[Event]:
        found: list[Event]
        if conversation is None and not types:
            found = await self._page(rows.EVENTS, READ.events, limit, after)
        else:
            picked = json.encode(types).decode()
            found = await self._many(rows.EVENTS, READ.events_picked, limit, after, picked, conversation)
        return found

    async def last_event(self) -> int:
        return int(self._get(READ.last_event))

    async def horizon(self) -> int:
        return int(self._get(READ.horizon))

    # --- The outbox --------------------------------------------------------------------------------------

    async def instance(self) -> str:
        return str(self._get(READ.instance))

    async def unpublished(self, limit: int, without: Sequence[ParticipantId] = ()) -> list[OutboxRow]:
        found: list[OutboxRow] = await self._many(
            rows.RECORDS[OUTBOX.name], RECORDS[OUTBOX.name].oldest, limit, json.encode(without).decode()
        )
        return found

    async def outbox_depth(self, limit: int) -> OutboxDepth:
        count, oldest = await self._long(
            lambda connection: connection.execute(RECORDS[OUTBOX.name].depth, (limit,)).get
        )
        return OutboxDepth(count, None if oldest is None else oldest / 1e6)

    async def homes_of(self, agents: Sequence[ParticipantId]) -> list[tuple[ParticipantId, ParticipantId]]:
        listed = _listed(agents)
        found: list[Any] = await self._long(
            lambda connection: list(connection.execute(READ.homes_of, (listed,)))
        )
        return [(participant_id, home) for participant_id, home in found if home is not None]


def _listed(values: Sequence[str]) -> str:
    return json.encode(list(values)).decode()
