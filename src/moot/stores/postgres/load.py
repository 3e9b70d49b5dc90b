"""Filling a desk: the scopes of all commands of a batch, put together, locked in a fixed order and loaded in three
statements.

Conversations are found first, then locked in the order of their numbers, then the agents in them; only then anything is
read, and only then the number of the transaction is drawn, from which ids of turns and events are made. So ids rise
within a conversation, whoever writes. Nothing is fetched while a decision is made: where one comes to questions that
were not laid out, the batch is run again with all of them.
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
LAID_OUT = 64
"""Turns of a conversation that are loaded at once; beyond these only questions wait."""
PAIRED = (ConversationKind.DIRECT, ConversationKind.LINK)


Meant = tuple[list[str], list[str], list[TurnId], list[ParticipantId]]
"""Ids or names of conversations, names, turns, whose running turns: see `conversations_meant` in the schema."""


class NotLaidOut:
    """Questions that wait in a conversation and are not on the desk: whoever comes to them has the batch run again."""

    def __init__(self, loading: "LockedLoad", where: ConversationId, left: int) -> None:
        self._loading = loading
        self._where = where
        self._left = left

    def fetch(self, after: int, *, everything: bool) -> tuple[list[Turn], int | None]:
        self._loading.in_full.add(self._where)
        raise TryAgain(f"more questions wait in {self._where} than were laid out")

    def count(self, after: int) -> int:
        return self._left


class LaidDesk(Desk):
    """A desk whose ids come from the number of the transaction."""

    def __init__(self, number: int) -> None:
        first = number << ID_BITS
        super().__init__(first, first)
        self.first = first
        self.last_event = None


class LockedLoad:
    """Lays desks through the writer's connection, inside its transaction.

    A decision that sees all of a table depends on what is not there: who else does waits until the batch has ended, so
    that two of them never add what they would have refused together."""

    def __init__(self, place: str, schema: str) -> None:
        self._place = place
        self._schema = schema
        self._links, self._links_version = NO_LINKS, -1
        self.in_full: set[ConversationId] = set()
        """Of these all questions are laid out, in the next run of the batch."""
        self.also: set[ConversationId] = set()
        """Locked as well, since the last run found that they were meant too."""
        self.seen = SeenRows()
        self.xid = ""
        """Of the transaction, as PostgreSQL knows it."""

    async def desk(self, connection: Connection, scopes: Sequence[Scope]) -> LaidDesk:
        self.seen = SeenRows()
        wanted = Wanted(scopes)
        meant = (
            [ref for ref in wanted.ids | wanted.refs if is_storable(ref)],
            [ref for ref in wanted.refs if is_storable(ref)],
            sorted(wanted.turns),
            sorted(filter(is_storable, wanted.running_of)),
        )
        found = await connection.fetchrow(LOAD.resolve, *meant)
        here = sorted({*found["conversations"], *self.also})
        whole = [name for name, by in wanted.records if by == ALL]
        await self._lock(connection, conversation=here, agent=found["agents"], table=whole)
        loaded = await connection.fetchrow(LOAD.desk, *self._asked(wanted, here, meant))
        if late := set(loaded["meant"] or ()) - set(here):
            self.also |= late
            raise TryAgain("a name came to mean another conversation")
        lay = Laying(self._place, wanted, self.seen)
        lay.everything(loaded, here)
        await self._long_queues(connection, lay.desk)
        self._shelve(lay.desk, loaded["tasks"])
        await self._graph(connection, lay.desk, loaded["links"])
        await self._records(connection, lay.desk, wanted)
        return await self._chains(connection, lay.desk, wanted)

    async def _lock(self, connection: Connection, **names: Sequence[str]) -> None:
        """Kind after kind in the order given, those of a kind in the order of their numbers; in one round trip."""
        numbers = [
            number
            for kind, some in names.items()
            for number in sorted({lock_number(self._schema, kind, name) for name in some})
        ]
        if numbers:
            await connection.execute(LOCK.each, numbers)

    def _asked(self, wanted: Wanted, here: list[str], meant: Meant) -> list[object]:
        refs, names, turns, running = meant
        by_address = [
            (where, seq) for where, seqs in wanted.messages.items() for seq in seqs if is_storable(where)
        ]
        by_key = [
            (who, key)
            for who, keys in wanted.keys.items()
            for key in keys
            if is_storable(who) and is_storable(key)
        ]
        below = [(where, max(seqs), len(seqs) + 1) for where, seqs in wanted.people_before.items()]
        return [
            here,
            turns,
            running,
            list(filter(is_storable, wanted.names)),
            wanted.everyone,
            [where for where, _ in by_address],
            [seq for _, seq in by_address],
            [who for who, _ in by_key],
            [key for _, key in by_key],
            wanted.hosts,
            [where for where, _, _ in below],
            [seq for _, seq, _ in below],
            [most for _, _, most in below],
            refs,
            names,
            turns,
            LAID_OUT,
            sorted(self.in_full),
        ]

    async def _long_queues(self, connection: Connection, desk: Desk) -> None:
        """Conversations of which only the oldest turns were laid out."""
        laid = Counter(turn.conversation for turn in desk.turns_by_id.values() if turn.state in OPEN)
        long = [where for where, count in laid.items() if count >= LAID_OUT and where not in self.in_full]
        if not long:
            return
        for turn in rows.TURNS.many(await connection.fetchval(LOAD.on_the_floor, long)):
            desk.add_turn(turn)
        if rounds := [where for where in long if desk.conversations[where].takes_rounds]:
            self.in_full.update(rounds)
            raise TryAgain("more turns wait than were laid out")
        for where, stored in await connection.fetch(LOAD.queues, long):
            known = [t for t in desk.turns_by_id.values() if t.conversation == where and t.state in OPEN]
            left = stored - len(known)
            if left > 0:
                asks = Asks(NotLaidOut(self, where, left), max(turn.id for turn in known))
                for turn in known:
                    if turn.is_queued_ask:
                        asks.put(turn)
                desk.asks_of[where] = asks

    def _shelve(self, desk: Desk, tasks: str | None) -> None:
        for task in rows.RECORDS[TASKS.name].many(tasks):
            desk.shelves.put(TASKS, task)
            self.seen.take(TASKS.name, TASKS.key(task), task)

    async def _graph(self, connection: Connection, desk: Desk, version: int) -> None:
        """The graph that is kept at hand, while nobody has changed a link since it was read."""
        if version != self._links_version:
            statement, values = query_for((LINKS.all(),))
            found = await connection.fetchval(statement, *values)
            self._links, self._links_version = Graph(rows.RECORDS[LINKS.name].many(found)), version
        desk.links = self._links

    async def _records(self, connection: Connection, desk: Desk, wanted: Wanted) -> None:
        """One query for all lookups of a kind."""
        for (name, _), lookups in wanted.records.items():
            possible = [lookup for lookup in lookups if all(is_storable(str(part)) for part in lookup.value)]
            for lookup in lookups:
                self.seen.looked_up(lookup)
            if not possible:
                continue
            statement, values = query_for(possible)
            table = possible[0].table
            for record in rows.RECORDS[name].many(await connection.fetchval(statement, *values)):
                desk.shelves.put(table, record)
                self.seen.take(name, table.key(record), record)

    async def _chains(self, connection: Connection, desk: Desk, wanted: Wanted) -> LaidDesk:
        roots = sorted(filter(is_storable, chains_of(desk) | wanted.roots))
        pairs = sorted(_pairs(desk))
        found = await connection.fetchrow(
            LOAD.chains, roots, [sender for sender, _ in pairs], [receiver for _, receiver in pairs]
        )
        self.xid = found["xid"]
        self.seen.asked_for("roots", [(root,) for root in roots])
        self.seen.asked_for("pairs", pairs)
        for root in rows.ROOTS.many(found["roots"]):
            desk.roots[root.id] = root
            self.seen.take("roots", (root.id,), root)
        for pair in rows.PAIRS.many(found["pairs"]):
            desk.pairs[pair.sender, pair.receiver] = pair
            self.seen.take("pairs", (pair.sender, pair.receiver), pair)
        laid = LaidDesk(found["number"])
        laid.last_event = found["newest"] if found["oldest"] == found["xid"] else None
        given = {
            name: value
            for name, value in vars(laid).items()
            if name in ("next_turn", "next_event", "last_event", "first")
        }
        vars(laid).update({**vars(desk), **given})
        return laid


def _pairs(desk: Desk) -> set[tuple[ParticipantId, ParticipantId]]:
    """Of conversations between two agents, both ways."""
    found: set[tuple[ParticipantId, ParticipantId]] = set()
    for where, conversation in desk.conversations.items():
        if conversation.kind in PAIRED:
            agents = [who for who in desk.members_of[where] if desk.participants[who].speaks_in_turns]
            found.update(permutations(agents, 2))
    return found


class Laying:
    """Puts what was loaded onto a desk."""

    def __init__(self, place: str, wanted: Wanted, seen: SeenRows) -> None:
        self.desk = Desk(0, 0)
        self._place = place
        self._wanted = wanted
        self._seen = seen

    def everything(self, loaded: "dict[str, str | None]", here: list[str]) -> None:
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
            seen.take("registry", (participant.id,), participant)
        for where, members in desk.members_of.items():
            for who in members:
                if who not in desk.participants:
                    raise damaged(
                        self._place, f"members of {where} lists {who!a}, who is not in the registry"
                    )
        for quota in rows.QUOTAS.many(loaded["quotas"]):
            desk.quotas[quota.agent] = quota
            seen.take("quotas", (quota.agent,), quota)
        seen.asked_for("quotas", [(who,) for who in desk.participants])
        if self._wanted.everyone:
            seen.asked_for_all("registry")
        if self._wanted.hosts:
            seen.asked_for_all("hosts")
            for host in rows.HOSTS.many(loaded["hosts"]):
                desk.hosts_by_id[host.id] = host
                seen.take("hosts", (host.id,), host)
