"""The read ports over a few connections of their own, so that reads never delay the writer."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, TypeVar

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
from moot.model.records.record import Lookup, R
from moot.model.round import Round
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import AuditReport, ConversationVersion, Page
from moot.rules.audit import KnownHead
from moot.rules.graph import NO_LINKS, Graph
from moot.stores import glances, rows
from moot.stores.postgres import migrate, search, soundness
from moot.stores.postgres.address import Address
from moot.stores.postgres.search import is_storable
from moot.stores.postgres.server import Connection, Connections, Server
from moot.stores.postgres.statements import AUDIT, READ, RECORDS, SEARCH, query_for
from moot.stores.postgres.trouble import moot_errors
from moot.stores.postgres.words import pieces, words
from moot.stores.rows import S

T = TypeVar("T")

CONNECTIONS = 4
NO_END = 2**62


def reads_of(address: Address) -> "PostgresReads":
    """Reads without a writer, independent of running hubs. It connects with the first read."""
    return PostgresReads(Server(address))


async def current_reads_of(address: Address) -> "PostgresReads | None":
    """The same if the database has the current schema; None if a writer must migrate it first."""
    reads = reads_of(address)
    if await reads.is_current():
        return reads
    await reads.close()
    return None


class PostgresReads:
    """Conversations, Search, Turns, Recall, People and Events of ports.py."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._place = server.address.shown
        self._connections = Connections(server, CONNECTIONS)
        self._links, self._graph_version = NO_LINKS, -1

    async def close(self) -> None:
        self._connections.close()

    async def verify(
        self, heads: Mapping[str, KnownHead], progress: Callable[[int], None] = lambda messages: None
    ) -> AuditReport:
        """Walk every chain, and compare with heads known from earlier."""
        return await self._reading(lambda connection: soundness.verify(connection, heads, progress))

    async def audit_entries(self, query: AuditQuery) -> list[AuditEntry]:
        if not is_storable(query.agent):
            return []
        return await self._many(
            rows.RECORDS[AUDIT_ENTRIES.name],
            AUDIT.entries,
            micros(query.since),
            micros(query.before) if query.before else NO_END,
            query.agent,
            search.storable(query.subjects),
            search.storable(query.acts),
            query.limit,
        )

    async def chain_ends(self, *, since: float) -> list[ChainEnd]:
        ends = await self._reading(lambda connection: connection.fetch(AUDIT.ends, micros(since)))
        return [ChainEnd(*end) for end in ends]

    async def is_current(self) -> bool:
        return await self._reading(migrate.is_current)

    async def _reading(self, work: Callable[[Connection], Awaitable[T]]) -> T:
        with moot_errors(self._place):
            return await self._connections.run(work)

    async def _get(self, statement: str, *values: Any) -> Any:
        """The single value of a result; None if an argument is something that no row can hold."""
        if not all(is_storable(value) for value in values if isinstance(value, str)):
            return None
        return await self._reading(lambda connection: connection.fetchval(statement, *values))

    async def _many(self, of: rows.Rows[S], statement: str, *values: Any) -> list[S]:
        with moot_errors(self._place):
            return of.many(await self._get(statement, *values))

    async def _one(self, of: rows.Rows[S], statement: str, *values: Any) -> S | None:
        shape = await self._get(statement, *values)
        with moot_errors(self._place):
            return None if shape is None else of.one(shape)

    # --- Conversations -----------------------------------------------------------------------------------

    async def conversation(self, ref: str) -> Conversation | None:
        return await self._one(rows.CONVERSATIONS, READ.conversation, ref)

    async def version(self, ref: str, member: ParticipantId | None = None) -> ConversationVersion | None:
        if not is_storable(ref) or not is_storable(member or ""):
            return None
        row = await self._reading(lambda connection: connection.fetchrow(READ.version_for, ref, member or ""))
        return None if row is None else ConversationVersion(row[0], row[1], row[2])

    async def conversations(self, *, archived: bool, kind: str | None) -> list[Conversation]:
        return await self._many(rows.CONVERSATIONS, READ.conversations, int(archived), kind)

    async def members(self, conversation: ConversationId) -> list[Member]:
        return await self._many(rows.MEMBERS, READ.members, conversation)

    async def members_everywhere(self, *, archived: bool) -> list[Member]:
        return await self._many(rows.MEMBERS, READ.members_everywhere, int(archived))

    async def glances(self, reader: ParticipantId, *, archived: bool, limit: int) -> list[ConversationGlance]:
        newest: list[Message] = await self._many(rows.MESSAGES, READ.newest_everywhere, int(archived))
        unread = await self._get(READ.unread_everywhere, int(archived), reader, limit)
        return glances.beside(newest, unread)

    async def messages(self, conversation: ConversationId, page: Page) -> list[Message]:
        statement = READ.messages_newest if page.newest else READ.messages_after
        end = NO_END if page.before is None else page.before
        messages: list[Message] = await self._many(
            rows.MESSAGES, statement, max(page.limit, 0), conversation, page.after, end
        )
        return messages[::-1] if page.newest else messages

    async def message(self, conversation: ConversationId, seq: int) -> Message | None:
        if not -NO_END < seq < NO_END:
            return None
        return await self._one(rows.MESSAGES, READ.message, conversation, seq)

    async def revisions(self, conversation: ConversationId) -> list[Revision]:
        return await self._many(rows.REVISIONS, READ.revisions, conversation)

    # --- Search ------------------------------------------------------------------------------------------

    async def search(self, query: Query, limit: int) -> list[tuple[Message, str]]:
        arguments = await self._search_arguments(query, limit)
        if arguments is None:
            return []
        hits = await self._reading(lambda connection: connection.fetch(SEARCH.search, *arguments))
        terms = [term for term in query.terms if words(term)]
        around = pieces([text for _, text in hits], terms)
        with moot_errors(self._place):
            return [(rows.MESSAGES.one(shape), piece) for (shape, _), piece in zip(hits, around, strict=True)]

    async def count(self, query: Query, limit: int) -> int:
        arguments = await self._search_arguments(query, limit)
        if arguments is None:
            return 0
        return int(await self._reading(lambda connection: connection.fetchval(SEARCH.count, *arguments)))

    async def _search_arguments(self, query: Query, limit: int) -> list[Any] | None:
        if query.reader is not None and not is_storable(query.reader):
            return None
        pairs: dict[ParticipantId, list[ConversationId]] = {}
        for agent in filter(is_storable, query.addressed):
            ids = await self._reading(lambda connection, id=agent: connection.fetch(SEARCH.pairs_of, id))  # type: ignore[misc]
            pairs[agent] = [ConversationId(where) for (where,) in ids]
        return search.conditions(query, limit, pairs)

    # --- Turns -------------------------------------------------------------------------------------------

    async def turn(self, turn: TurnId) -> Turn | None:
        if not -NO_END < turn < NO_END:
            return None
        return await self._one(rows.TURNS, READ.turn, turn)

    async def turns(
        self,
        *,
        conversation: ConversationId | None = None,
        agent: ParticipantId | None = None,
        states: Sequence[TurnState] = (),
        limit: int = 1000,
    ) -> list[Turn]:
        chosen = list(states)
        only_open = bool(states) and OPEN.issuperset(states)
        if conversation is not None:
            statement = READ.turns_open_of_conversation if only_open else READ.turns_of_conversation
            newest_first = await self._many(rows.TURNS, statement, limit, chosen, agent, conversation)
        elif not only_open:
            newest_first = await self._many(rows.TURNS, READ.turns, limit, chosen, agent)
        elif agent is not None:
            newest_first = await self._many(rows.TURNS, READ.turns_open_of_agent, limit, chosen, agent)
        else:
            newest_first = await self._many(rows.TURNS, READ.turns_open, limit, chosen)
        oldest_first: list[Turn] = newest_first[::-1]
        return oldest_first

    async def turns_about(self, conversation: ConversationId, seq: int) -> list[Turn]:
        return await self._many(rows.TURNS, READ.turns_about, conversation, seq)

    async def round(self, conversation: ConversationId, opener: int) -> Round | None:
        return await self._one(rows.ROUNDS, READ.round, conversation, opener)

    async def due(self, now: float) -> list[ConversationId]:
        ids = await self._reading(lambda connection: connection.fetch(READ.due, now))
        return [ConversationId(where) for (where,) in ids]

    async def next_due(self) -> float | None:
        moment: float | None = await self._get(READ.next_due)
        return moment

    # --- Recall ------------------------------------------------------------------------------------------

    async def secret(self) -> str:
        return str(await self._get(READ.secret))

    async def summary(self, conversation: ConversationId, *, upto: int) -> Summary | None:
        return await self._one(rows.SUMMARIES, READ.summary, conversation, upto)

    async def summary_of(self, conversation: ConversationId, epoch: int) -> Summary | None:
        return await self._one(rows.SUMMARIES, READ.summary_of, conversation, epoch)

    async def turns_before(self, turn: Turn, *, reading_to: int, limit: int) -> list[Turn]:
        newest_first: list[Turn] = await self._many(
            rows.TURNS, READ.turns_before, limit, turn.conversation, turn.agent, reading_to, turn.id
        )
        return newest_first[::-1]

    async def text(self, digest: str) -> str | None:
        text: str | None = await self._get(READ.text, digest)
        return text

    # --- People and events -------------------------------------------------------------------------------

    async def participants(self) -> list[Participant]:
        return await self._many(rows.PARTICIPANTS, READ.participants)

    async def participant(self, name: str) -> Participant | None:
        return await self._one(rows.PARTICIPANTS, READ.participant, name)

    async def hosts(self) -> list[Host]:
        return await self._many(rows.HOSTS, READ.hosts)

    async def pairs(self, *, since: float) -> list[Pair]:
        return await self._many(rows.PAIRS, READ.pairs, since)

    async def quotas(self) -> list[Quota]:
        return await self._many(rows.QUOTAS, READ.quotas)

    async def root(self, root: RootId) -> Root | None:
        return await self._one(rows.ROOTS, READ.root, root)

    async def graph(self) -> Graph:
        version = await self._get(READ.links_version)
        if version != self._graph_version:
            self._links, self._graph_version = Graph(await self.records(LINKS.all())), version
        return self._links

    async def note_count(self) -> int:
        count: int = await self._get(READ.note_count)
        return count

    async def records(self, lookup: Lookup[R]) -> list[R]:
        if not all(is_storable(str(part)) for part in lookup.value):
            return []
        statement, values = query_for((lookup,))
        return await self._many(rows.RECORDS[lookup.table.name], statement, *values)

    async def events(
        self,
        *,
        after: int,
        conversation: ConversationId | None = None,
        types: Sequence[str] = (),
        limit: int = 500,
    ) -> list[Event]:
        events: list[Event]
        if conversation is None and not types:
            events = await self._many(rows.EVENTS, READ.events, limit, after)
        else:
            events = await self._many(
                rows.EVENTS, READ.events_picked, limit, after, list(types), conversation
            )
        return events

    async def last_event(self) -> int:
        """The last event below every transaction that is still under way: no smaller one can appear after it."""
        reached, _ = await self.reach()
        return reached

    async def reach(self) -> tuple[int, int]:
        """The event up to which everything is readable, and the newest."""
        row = await self._reading(lambda connection: connection.fetchrow(READ.last_event))
        return int(row["reached"]), int(row["newest"])

    async def horizon(self) -> int:
        return int(await self._get(READ.horizon))

    # --- The outbox --------------------------------------------------------------------------------------

    async def instance(self) -> str:
        return str(await self._get(READ.instance))

    async def unpublished(self, limit: int, without: Sequence[ParticipantId] = ()) -> list[OutboxRow]:
        return await self._many(rows.RECORDS[OUTBOX.name], RECORDS[OUTBOX.name].oldest, limit, list(without))

    async def outbox_depth(self, limit: int) -> OutboxDepth:
        depth = await self._reading(lambda connection: connection.fetchrow(RECORDS[OUTBOX.name].depth, limit))
        oldest = depth["oldest"]
        return OutboxDepth(int(depth["rows"]), None if oldest is None else oldest / 1e6)

    async def homes_of(self, agents: Sequence[ParticipantId]) -> list[tuple[ParticipantId, ParticipantId]]:
        homes = await self._reading(lambda connection: connection.fetch(READ.homes_of, list(agents)))
        return [(row["participant"], row["home"]) for row in homes if row["home"] is not None]
