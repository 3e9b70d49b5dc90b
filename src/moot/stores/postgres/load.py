"""Filling a desk: the scopes of all commands of a batch together, locked in a fixed order and loaded in three
statements.

Conversations are resolved first, then locked in the order of their numbers, then the agents in them. Rows are read only
after that, and last the number of the transaction is drawn, from which the ids of turns and events are made: so ids
rise within a conversation, whichever hub writes. Nothing is fetched during a decision: one that needs questions that
were not loaded makes the batch run again with all of them.
"""

from collections import Counter
from collections.abc import Sequence
from itertools import permutations

from msgspec import json

from moot.model.conversation import Conversation, ConversationKind
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.records.link import LINKS
from moot.model.records.record import ALL
from moot.model.records.task import TASKS
from moot.model.turn import OPEN, Turn
from moot.ports import Scope
from moot.rules.floor.asks import Asks
from moot.rules.graph import NO_LINKS, Graph
from moot.stores import rows
from moot.stores.async_runner import TryAgain
from moot.stores.desk import Desk, chains_of
from moot.stores.postgres.search import is_storable
from moot.stores.postgres.seen_rows import SeenRows
from moot.stores.postgres.server import Connection, lock_number
from moot.stores.postgres.statements import LOAD, LOCK, query_for
from moot.stores.postgres.trouble import damaged
from moot.stores.wanted import Wanted

ID_BITS = 16
MAX_IDS = 1 << ID_BITS
"""Turns, events or messages that one transaction can number."""
MAX_LOADED_TURNS = 64
"""Turns of a conversation that are loaded; any further ones are questions that wait."""
PAIRED = (ConversationKind.DIRECT, ConversationKind.LINK)


ResolvedRefs = tuple[list[str], list[str], list[TurnId], list[ParticipantId]]
"""Ids or names of conversations, names, turns, whose running turns: see `conversations_meant` in the schema."""


class UnloadedQuestions:
    """Questions that wait in a conversation and were not loaded: a decision that needs them causes another run."""

    def __init__(self, loading: "LockedLoad", where: ConversationId, count: int) -> None:
        self._loading = loading
        self._where = where
        self._count = count

    def fetch(self, after: int, *, everything: bool) -> tuple[list[Turn], int | None]:
        self._loading.in_full.add(self._where)
        raise TryAgain(f"more questions wait in {self._where} than were laid out")

    def count(self, after: int) -> int:
        return self._count


class NumberedDesk(Desk):
    """A desk whose ids come from the number of the transaction."""

    def __init__(self, number: int) -> None:
        first = number << ID_BITS
        super().__init__(first, first)
        self.first = first
        self.last_event = None


class LockedLoad:
    """Fills desks through the writer's connection, inside its transaction.

    A decision that sees all of a table depends on what is not in it: other such decisions wait until the batch has
    ended, so that two of them never add what they would have refused together."""

    def __init__(self, place: str, schema: str) -> None:
        self._place = place
        self._schema = schema
        self._links, self._links_version = NO_LINKS, -1
        self.in_full: set[ConversationId] = set()
        """Conversations whose questions are all loaded in the next run of the batch."""
        self.also: set[ConversationId] = set()
        """Conversations to lock as well: the last run found that a name means them."""
        self.seen = SeenRows()
        self.xid = ""
        """PostgreSQL's number of the transaction."""

    async def desk(self, connection: Connection, scopes: Sequence[Scope]) -> NumberedDesk:
        self.seen = SeenRows()
        wanted = Wanted(scopes)
        refs = (
            [ref for ref in wanted.ids | wanted.refs if is_storable(ref)],
            [ref for ref in wanted.refs if is_storable(ref)],
            sorted(wanted.turns),
            sorted(filter(is_storable, wanted.running_of)),
        )
        resolved = await connection.fetchrow(LOAD.resolve, *refs)
        conversations = sorted({*resolved["conversations"], *self.also})
        whole_tables = [name for name, by in wanted.records if by == ALL]
        await self._lock(connection, conversation=conversations, agent=resolved["agents"], table=whole_tables)
        loaded = await connection.fetchrow(LOAD.desk, *self._arguments(wanted, conversations, refs))
        if missed := set(loaded["meant"] or ()) - set(conversations):
            self.also |= missed
            raise TryAgain("a name came to mean another conversation")
        filler = DeskFiller(self._place, wanted, self.seen)
        filler.fill(loaded, conversations)
        await self._long_queues(connection, filler.desk)
        self._shelve(filler.desk, loaded["tasks"])
        await self._graph(connection, filler.desk, loaded["links"])
        await self._records(connection, filler.desk, wanted)
        return await self._chains(connection, filler.desk, wanted)

    async def _lock(self, connection: Connection, **names: Sequence[str]) -> None:
        """Lock kind after kind in the order of the arguments, each in the order of its numbers; in one round trip."""
        numbers = [
            number
            for kind, some in names.items()
            for number in sorted({lock_number(self._schema, kind, name) for name in some})
        ]
        if numbers:
            await connection.execute(LOCK.each, numbers)

    def _arguments(self, wanted: Wanted, conversations: list[str], resolved: ResolvedRefs) -> list[object]:
        refs, names, turns, running = resolved
        by_address = [
            (where, seq) for where, seqs in wanted.messages.items() for seq in seqs if is_storable(where)
        ]
        by_key = [
            (author, key)
            for author, keys in wanted.keys.items()
            for key in keys
            if is_storable(author) and is_storable(key)
        ]
        below = [(where, max(seqs), len(seqs) + 1) for where, seqs in wanted.people_before.items()]
        return [
            conversations,
            turns,
            running,
            list(filter(is_storable, wanted.names)),
            wanted.everyone,
            [where for where, _ in by_address],
            [seq for _, seq in by_address],
            [author for author, _ in by_key],
            [key for _, key in by_key],
            wanted.hosts,
            [where for where, _, _ in below],
            [seq for _, seq, _ in below],
            [limit for _, _, limit in below],
            refs,
            names,
            turns,
            MAX_LOADED_TURNS,
            sorted(self.in_full),
        ]

    async def _long_queues(self, connection: Connection, desk: Desk) -> None:
        """Handle conversations of which only the oldest turns were loaded."""
        loaded = Counter(turn.conversation for turn in desk.turns_by_id.values() if turn.state in OPEN)
        long = [
            where
            for where, count in loaded.items()
            if count >= MAX_LOADED_TURNS and where not in self.in_full
        ]
        if not long:
            return
        for turn in rows.TURNS.many(await connection.fetchval(LOAD.on_the_floor, long)):
            desk.add_turn(turn)
        if rounds := [where for where in long if desk.conversations[where].takes_rounds]:
            self.in_full.update(rounds)
            raise TryAgain("more turns wait than were laid out")
        for where, stored in await connection.fetch(LOAD.queues, long):
            open_turns = [t for t in desk.turns_by_id.values() if t.conversation == where and t.state in OPEN]
            unloaded = stored - len(open_turns)
            if unloaded > 0:
                asks = Asks(UnloadedQuestions(self, where, unloaded), max(turn.id for turn in open_turns))
                for turn in open_turns:
                    if turn.is_queued_ask:
                        asks.put(turn)
                desk.asks_of[where] = asks

    def _shelve(self, desk: Desk, tasks: str | None) -> None:
        for task in rows.RECORDS[TASKS.name].many(tasks):
            desk.shelves.put(TASKS, task)
            self.seen.note_row(TASKS.name, TASKS.key(task), task)

    async def _graph(self, connection: Connection, desk: Desk, version: int) -> None:
        """The graph, read again only if a link has changed."""
        if version != self._links_version:
            statement, values = query_for((LINKS.all(),))
            links = await connection.fetchval(statement, *values)
            self._links, self._links_version = Graph(rows.RECORDS[LINKS.name].many(links)), version
        desk.links = self._links

    async def _records(self, connection: Connection, desk: Desk, wanted: Wanted) -> None:
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

    async def _chains(self, connection: Connection, desk: Desk, wanted: Wanted) -> NumberedDesk:
        roots = sorted(filter(is_storable, chains_of(desk) | wanted.roots))
        pairs = sorted(_pairs(desk))
        loaded = await connection.fetchrow(
            LOAD.chains, roots, [sender for sender, _ in pairs], [receiver for _, receiver in pairs]
        )
        self.xid = loaded["xid"]
        self.seen.note_keys("roots", [(root,) for root in roots])
        self.seen.note_keys("pairs", pairs)
        for root in rows.ROOTS.many(loaded["roots"]):
            desk.roots[root.id] = root
            self.seen.note_row("roots", (root.id,), root)
        for pair in rows.PAIRS.many(loaded["pairs"]):
            desk.pairs[pair.sender, pair.receiver] = pair
            self.seen.note_row("pairs", (pair.sender, pair.receiver), pair)
        numbered = NumberedDesk(loaded["number"])
        numbered.last_event = loaded["newest"] if loaded["oldest"] == loaded["xid"] else None
        own = {
            name: value
            for name, value in vars(numbered).items()
            if name in ("next_turn", "next_event", "last_event", "first")
        }
        vars(numbered).update({**vars(desk), **own})
        return numbered


def _pairs(desk: Desk) -> set[tuple[ParticipantId, ParticipantId]]:
    """The pairs of agents in conversations of two, both ways."""
    pairs: set[tuple[ParticipantId, ParticipantId]] = set()
    for where, conversation in desk.conversations.items():
        if conversation.kind in PAIRED:
            agents = [
                member for member in desk.members_of[where] if desk.participants[member].speaks_in_turns
            ]
            pairs.update(permutations(agents, 2))
    return pairs


class DeskFiller:
    """Puts loaded rows onto a desk."""

    def __init__(self, place: str, wanted: Wanted, seen: SeenRows) -> None:
        self.desk = Desk(0, 0)
        self._place = place
        self._wanted = wanted
        self._seen = seen

    def fill(self, loaded: "dict[str, str | None]", ids: list[str]) -> None:
        conversations: list[Conversation] = rows.CONVERSATIONS.many(loaded["conversations"])
        desk = self.desk
        for conversation in conversations:
            where = conversation.id
            desk.add_conversation(conversation)
            desk.members_of[where], desk.turns_of[where], desk.rounds_of[where] = {}, {}, {}
        for member in rows.MEMBERS.many(loaded["members"]):
            desk.members_of[member.conversation][member.participant] = member
        for part in ("named_turns", "running", "open_turns"):
            for turn in rows.TURNS.many(loaded[part]):
                desk.add_turn(turn)
        for round_ in rows.ROUNDS.many(loaded["rounds"]):
            desk.rounds_of[round_.conversation][round_.opener] = round_
        self._people(loaded)
        for message in rows.MESSAGES.many(loaded["messages"]):
            desk.messages[message.conversation, message.seq] = message
        for message in rows.MESSAGES.many(loaded["keyed"]):
            desk.keys[message.author, message.key] = message
        for where in self._wanted.people_before:
            desk.by_people[where] = set()
        for where, seq in json.decode(loaded["by_people"] or "[]"):
            desk.by_people[ConversationId(where)].add(seq)

    def _people(self, loaded: "dict[str, str | None]") -> None:
        desk, seen = self.desk, self._seen
        for participant in rows.PARTICIPANTS.many(loaded["people"]):
            desk.add_participant(participant)
            seen.note_row("registry", (participant.id,), participant)
        for where, members in desk.members_of.items():
            for member in members:
                if member not in desk.participants:
                    raise damaged(
                        self._place, f"members of {where} lists {member!a}, who is not in the registry"
                    )
        for quota in rows.QUOTAS.many(loaded["quotas"]):
            desk.quotas[quota.agent] = quota
            seen.note_row("quotas", (quota.agent,), quota)
        seen.note_keys("quotas", [(member,) for member in desk.participants])
        if self._wanted.everyone:
            seen.note_all_of("registry")
        if self._wanted.hosts:
            seen.note_all_of("hosts")
            for host in rows.HOSTS.many(loaded["hosts"]):
                desk.hosts_by_id[host.id] = host
                seen.note_row("hosts", (host.id,), host)
