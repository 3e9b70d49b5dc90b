"""Filling a desk: the scopes of all commands of a batch together, locked in a fixed order and loaded in few statements.

Conversations are resolved first, then locked in the order of their numbers, then the agents in them. Rows are read only
after that, and last the number of the transaction is drawn, from which the ids of turns and events are made: so ids
rise within a conversation, whichever hub writes. What the desk of the last batch has is not loaded again, if a
statement behind the locks says that nobody else has written since. Nothing is fetched during a decision
(numbered_desk.py).
"""

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from itertools import permutations
from typing import Any

from moot.model.conversation import ConversationKind
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.participant import Kind
from moot.model.records.link import LINKS
from moot.model.records.record import ALL
from moot.model.records.task import TASKS
from moot.model.turn import OPEN, TurnState
from moot.ports import Scope
from moot.rules.floor.asks import Asks
from moot.rules.graph import NO_LINKS, Graph
from moot.stores import rows
from moot.stores.async_runner import TryAgain
from moot.stores.desk import Dirty, chains_of
from moot.stores.postgres.batch.fill import Lacking, fill, fill_messages
from moot.stores.postgres.batch.numbered_desk import Demands, NumberedDesk, UnloadedQuestions
from moot.stores.postgres.batch.seen_rows import SeenRows
from moot.stores.postgres.search import is_storable
from moot.stores.postgres.server import Connection, lock_number
from moot.stores.postgres.statements import LOAD, LOCK, query_for
from moot.stores.wanted import Wanted

MAX_LOADED_TURNS = 64
"""Turns of a conversation that are loaded; any further ones are questions that wait."""
PAIRED = (ConversationKind.DIRECT, ConversationKind.LINK)
LOCKED_KINDS = (Kind.AGENT, Kind.EXTERNAL)
ON_THE_FLOOR = (TurnState.READY, TurnState.HELD, TurnState.RUNNING)

Row = Mapping[str, Any]


class LockedLoad:
    """Fills desks through the writer's connection, inside its transaction.

    A decision that sees all of a table depends on what is not in it: other such decisions wait until the batch has
    ended, so that two of them never add what they would have refused together."""

    def __init__(self, place: str, schema: str) -> None:
        self._place = place
        self._schema = schema
        self._links, self._links_version = NO_LINKS, -1
        self.demands = Demands()
        self.seen = SeenRows()
        self.xid = ""
        """PostgreSQL's number of the transaction."""
        self._kept: tuple[NumberedDesk, Dirty] | None = None
        """The desk of the last batch, with what that wrote."""
        self._others: str | None = None
        """What all others had written last when the desk was loaded."""
        self._others_wrote = False
        """Others have written since the batch before: the desk is not kept, as it would rarely hold."""
        self._locked: set[ConversationId] = set()

    # --- between two batches -----------------------------------------------------------------------------

    def begin_batch(self) -> None:
        """A new batch, not another run of the last one."""
        self.demands.clear()
        self._others_wrote = False

    def keep(self, desk: NumberedDesk, dirty: Dirty) -> None:
        """The batch is committed: the next one may begin with its desk."""
        self._kept = None if self._others_wrote else (desk, dirty)

    def forget(self) -> None:
        """Nothing of the last batch may be used."""
        self._kept = None

    def _begin(self) -> NumberedDesk:
        """The desk of the last batch as a fresh one would be, or an empty one."""
        kept, self._kept = self._kept, None
        if kept is not None:
            desk, dirty = kept
            if desk.settle(dirty):
                self.seen.settle(dirty)
                desk.alone = True
                return desk
        self.seen = SeenRows()
        return NumberedDesk(self.demands.root)

    def _hear_of_others(self, desk: NumberedDesk, others: str) -> None:
        """Compare what others have written last with what it was for the batch before."""
        if others != self._others:
            self._others, self._others_wrote = others, True
            if desk.alone:
                raise TryAgain("another hub has written")

    def check_locks(self, desk: NumberedDesk, dirty: Dirty) -> None:
        """A desk that is kept has more rooms than those that the batch has locked: no other may be written."""
        touched = {*dirty.conversations, *(turn.conversation for turn in dirty.turns.values())}
        touched.update([where for where, _ in (*dirty.members, *dirty.dropped_members, *dirty.rounds)])
        if unlocked := (touched - self._locked) & desk.rooms.keys():
            self.demands.lock(unlocked, "a conversation is written that was not locked")

    # --- one batch ---------------------------------------------------------------------------------------

    async def desk(self, connection: Connection, scopes: Sequence[Scope]) -> NumberedDesk:
        wanted, desk = Wanted(scopes), self._begin()
        lacking = Lacking(desk, wanted)
        found, agents = set(self.demands.conversations), set[ParticipantId]()
        if lacking.rooms_to_find:
            resolved = await connection.fetchrow(LOAD.resolve, *lacking.refs)
            found.update(resolved["conversations"])
            agents.update(resolved["agents"])
        lacking.look_in(found)
        self._locked = here = found | lacking.here
        agents |= lacking.agents(LOCKED_KINDS)
        whole_tables = [name for name, by in wanted.records if by == ALL]
        await self._lock(connection, conversation=here, agent=agents, table=whole_tables)
        if lacking or here - desk.rooms.keys():
            await self._load(connection, desk, lacking, here)
        else:
            await self._check(connection, desk, lacking)
        return desk

    async def _lock(self, connection: Connection, **names: Collection[str]) -> None:
        """Lock kind after kind in the order of the arguments, each in the order of its numbers; in one round trip."""
        numbers = [
            number
            for kind, some in names.items()
            for number in sorted({lock_number(self._schema, kind, name) for name in some})
        ]
        if numbers:
            await connection.execute(LOCK.each, numbers)

    async def _check(self, connection: Connection, desk: NumberedDesk, lacking: Lacking) -> None:
        """The desk has everything: ask only whether it still holds, and for what no desk keeps."""
        loaded = await connection.fetchrow(LOAD.kept, *lacking.messages)
        self._hear_of_others(desk, loaded["others"])
        await self._graph(connection, desk, loaded["links"])
        fill_messages(desk, loaded)
        await self._records(connection, desk, lacking.wanted)
        roots = self._roots(desk, lacking.wanted, lacking.here)
        if roots:
            await self._chains(connection, desk, roots, set())
        self._number(desk, loaded)

    async def _load(
        self, connection: Connection, desk: NumberedDesk, lacking: Lacking, here: set[ConversationId]
    ) -> None:
        new = sorted(here - desk.rooms.keys())
        arguments = lacking.arguments(new, MAX_LOADED_TURNS, sorted(self.demands.in_full))
        loaded = await connection.fetchrow(LOAD.desk, *arguments)
        if missed := set(loaded["meant"] or ()) - here:
            self.demands.conversations |= missed
            raise TryAgain("a name came to mean another conversation")
        self._hear_of_others(desk, loaded["others"])
        fill(desk, loaded, lacking, self.seen, self._place)
        await self._long_queues(connection, desk, new)
        self._shelve(desk, loaded["tasks"])
        await self._graph(connection, desk, loaded["links"])
        await self._records(connection, desk, lacking.wanted)
        pairs = _pairs(desk, [where for where in here if where in desk.rooms])
        roots = chains_of(desk, [where for where in new if where in desk.rooms])
        roots |= self._roots(desk, lacking.wanted, here)
        self._number(desk, await self._chains(connection, desk, roots, pairs - desk.pairs_known))

    def _number(self, desk: NumberedDesk, loaded: Row) -> None:
        self.xid = loaded["xid"]
        desk.number(loaded["number"], loaded["newest"] if loaded["oldest"] == loaded["xid"] else None)

    async def _long_queues(
        self, connection: Connection, desk: NumberedDesk, new: Iterable[ConversationId]
    ) -> None:
        """Handle conversations of which only the oldest turns were loaded."""
        rooms = set(new)
        loaded = Counter(
            turn.conversation
            for turn in desk.turns_by_id.values()
            if turn.conversation in rooms and turn.state in OPEN
        )
        long = [
            where
            for where, count in loaded.items()
            if count >= MAX_LOADED_TURNS and where not in self.demands.in_full
        ]
        if not long:
            return
        for turn in rows.TURNS.many(await connection.fetchval(LOAD.on_the_floor, long)):
            desk.add_turn(turn)
        if rounds := [where for where in long if desk.conversations[where].takes_rounds]:
            self.demands.in_full.update(rounds)
            raise TryAgain("more turns wait than were laid out")
        for where, stored in await connection.fetch(LOAD.queues, long):
            open_turns = [t for t in desk.turns_by_id.values() if t.conversation == where and t.state in OPEN]
            unloaded = stored - len(open_turns)
            if unloaded > 0:
                rest = UnloadedQuestions(self.demands, where, unloaded)
                asks = Asks(rest, max(turn.id for turn in open_turns))
                for turn in open_turns:
                    if turn.is_queued_ask:
                        asks.put(turn)
                desk.asks_of[where] = asks
                desk.long_queues.add(where)

    def _shelve(self, desk: NumberedDesk, tasks: str | None) -> None:
        for task in rows.RECORDS[TASKS.name].many(tasks):
            desk.shelves.put(TASKS, task)
            self.seen.note_row(TASKS.name, TASKS.key(task), task)

    async def _graph(self, connection: Connection, desk: NumberedDesk, version: int) -> None:
        """The graph, read again only if a link has changed."""
        if version != self._links_version:
            statement, values = query_for((LINKS.all(),))
            links = await connection.fetchval(statement, *values)
            self._links, self._links_version = Graph(rows.RECORDS[LINKS.name].many(links)), version
        desk.links = self._links

    async def _records(self, connection: Connection, desk: NumberedDesk, wanted: Wanted) -> None:
        """One query for all lookups of a kind."""
        for (name, _), lookups in wanted.records.items():
            possible = [lookup for lookup in lookups if all(is_storable(str(part)) for part in lookup.value)]
            for lookup in lookups:
                self.seen.note_lookup(lookup)
            if not possible:
                continue
            statement, values = query_for(possible)
            table = possible[0].table
            for record in rows.RECORDS[name].many(await connection.fetchval(statement, *values)):
                desk.shelves.put(table, record)
                self.seen.note_row(name, table.key(record), record)

    def _roots(self, desk: NumberedDesk, wanted: Wanted, here: Iterable[ConversationId]) -> set[RootId]:
        """Chains that a decision certainly reads and of which nothing is known."""
        roots = {*wanted.roots, *self.demands.roots, *(task.root for task in desk.shelves.every(TASKS))}
        for where in here:
            for turn in desk.turns(where).values():
                if turn.state in ON_THE_FLOOR:
                    roots.update((turn.root, *turn.charged))
        roots.discard(RootId(""))
        return {root for root in roots if desk.lacks(root)}

    async def _chains(
        self,
        connection: Connection,
        desk: NumberedDesk,
        roots: Iterable[RootId],
        pairs: Iterable[tuple[ParticipantId, ParticipantId]],
    ) -> Row:
        roots, pairs = sorted(filter(is_storable, roots)), sorted(pairs)
        loaded: Row = await connection.fetchrow(
            LOAD.chains, roots, [sender for sender, _ in pairs], [receiver for _, receiver in pairs]
        )
        self.seen.note_keys("roots", [(root,) for root in roots])
        self.seen.note_keys("pairs", pairs)
        for root in rows.ROOTS.many(loaded["roots"]):
            desk.roots[root.id] = root
            self.seen.note_row("roots", (root.id,), root)
        desk.note_absent(root for root in roots if root not in desk.roots)
        desk.pairs_known.update(pairs)
        for pair in rows.PAIRS.many(loaded["pairs"]):
            desk.pairs[pair.sender, pair.receiver] = pair
            self.seen.note_row("pairs", (pair.sender, pair.receiver), pair)
        return loaded


def _pairs(desk: NumberedDesk, here: Iterable[ConversationId]) -> set[tuple[ParticipantId, ParticipantId]]:
    """The pairs of agents in conversations of two, both ways."""
    pairs: set[tuple[ParticipantId, ParticipantId]] = set()
    for where in here:
        if desk.conversations[where].kind in PAIRED:
            agents = [
                member for member in desk.members_of[where] if desk.participants[member].speaks_in_turns
            ]
            pairs.update(permutations(agents, 2))
    return pairs
