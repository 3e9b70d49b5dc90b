"""A decision in the making: what was seen, with this decision's own changes laid over it.

Verbs and rules read and write a `Draft`; the store never does. What was seen is not touched: a refusal
throws the draft away and nothing has happened. `changes()` is what the fold gets.
"""

from collections.abc import Set
from typing import Protocol

from msgspec import Struct, structs

from moot.model.chain import Pair, Root
from moot.model.change import (
    Change,
    DropRecord,
    Emit,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRecord,
    PutRoot,
)
from moot.model.conversation import Conversation, Member
from moot.model.event import Event, EventType
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.moment import Moment
from moot.model.participant import Host, Participant, Quota
from moot.model.records.audit import AuditEntry
from moot.model.records.link import LINKS, Link
from moot.model.records.record import AnyTable, Key, Lookup, R, Shelves, Table
from moot.model.round import Round
from moot.model.turn import Turn
from moot.rules.floor import direct, group
from moot.rules.floor.asks import Asks
from moot.rules.floor.roster import Roster
from moot.rules.graph import Graph
from moot.rules.room import Room


class Seen(Protocol):
    """The piece of the store that a verb's scope asked for. Reading it changes nothing."""

    def conversation(self, conversation: ConversationId) -> Conversation | None: ...
    def find(self, ref: str) -> Conversation | None: ...
    def members(self, conversation: ConversationId) -> dict[ParticipantId, Member]: ...
    def turns(self, conversation: ConversationId) -> dict[ParticipantId, Turn]: ...
    def asks(self, conversation: ConversationId) -> Asks: ...
    def rounds(self, conversation: ConversationId) -> dict[int, Round]: ...
    def participant(self, participant: ParticipantId) -> Participant | None: ...
    def registry(self) -> dict[ParticipantId, Participant]: ...
    def roster(self, conversation: ConversationId) -> Roster: ...
    def named(self, name: str) -> Participant | None: ...
    def root(self, root: RootId) -> Root | None: ...
    def pair(self, sender: ParticipantId, receiver: ParticipantId) -> Pair | None: ...
    def quota(self, agent: ParticipantId) -> Quota | None: ...
    def turn(self, turn: TurnId) -> Turn | None: ...
    def running_of(self, participant: ParticipantId) -> list[Turn]: ...
    def message(self, conversation: ConversationId, seq: int) -> Message | None: ...
    def said_by_people(self, conversation: ConversationId) -> Set[int]: ...
    def replay(self, author: ParticipantId, key: str) -> Message | None: ...
    def hosts(self) -> tuple[Host, ...]: ...
    def graph(self) -> Graph: ...
    def records(self, lookup: Lookup[R]) -> list[R]: ...
    def record(self, table: Table[R], *key: str | int) -> R | None: ...
    def everyone(self) -> list[Participant]: ...


class Unaudited(AssertionError):
    """Something changed that the audit keeps, and no entry says so; a verb is wrong, not the caller."""


class Draft(Struct, eq=False):
    seen: Seen
    at: Moment
    others: list[Change] = []
    _rooms: dict[ConversationId, Room] = {}
    _roots: dict[RootId, Root] = {}
    _pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
    _quotas: dict[ParticipantId, Quota] = {}
    _people: dict[ParticipantId, Participant] = {}
    _graph: Graph | None = None
    _changed: Shelves | None = None
    """Records that this draft has put."""
    _touched: set[tuple[str, Key]] = set()
    """Those it has put or dropped."""
    _unaudited: set[str] = set()
    """Which of these the audit must record, and which it has recorded."""
    _audited: set[str] = set()

    def room(self, conversation: Conversation) -> Room:
        where = conversation.id
        found = self._rooms.get(where)
        if found is None:
            seen, at = self.seen, self.at
            found = self._rooms[where] = Room(
                self,
                where,
                at.now,
                conversation,
                conversation.takes_rounds,
                conversation.settings.over(at.terms.groups),
                group if conversation.takes_rounds else direct,
                seen.members(where),
                seen.turns(where),
                seen.asks(where),
                seen.rounds(where),
                seen.roster(where),
            )
            if self._people:
                found.regroup()
        return found

    def registry(self) -> dict[ParticipantId, Participant]:
        """Everybody as this draft leaves them."""
        return {**self.seen.registry(), **self._people} if self._people else self.seen.registry()

    def participant(self, participant: ParticipantId) -> Participant:
        found = self._people.get(participant) or self.seen.participant(participant)
        if found is None:
            raise LookupError(f"participant {participant} is not in the scope of this decision")
        return found

    def newcomer(self, id: str) -> Participant | None:
        """Somebody whom this draft has made, or changed."""
        return self._people.get(ParticipantId(id))

    def name(self, participant: ParticipantId) -> str:
        """What to call somebody who may have left since; the id is the name it once had."""
        found = self._people.get(participant) or self.seen.participant(participant)
        return found.name if found is not None else participant

    def put_participant(self, participant: Participant) -> None:
        self._people[participant.id] = participant
        for room in self._rooms.values():
            room.regroup()

    def root(self, root: RootId) -> Root | None:
        return self._roots.get(root) or self.seen.root(root)

    def put_root(self, root: Root) -> None:
        self._roots[root.id] = root

    def pair(self, sender: ParticipantId, receiver: ParticipantId) -> Pair:
        found = self._pairs.get((sender, receiver)) or self.seen.pair(sender, receiver)
        return found or Pair(sender=sender, receiver=receiver)

    def put_pair(self, pair: Pair) -> None:
        self._pairs[pair.sender, pair.receiver] = pair

    def quota(self, agent: ParticipantId) -> Quota | None:
        return self._quotas.get(agent) or self.seen.quota(agent)

    def put_quota(self, quota: Quota) -> None:
        self._quotas[quota.agent] = quota

    @property
    def graph(self) -> Graph:
        """The links as this draft leaves them."""
        return self._graph if self._graph is not None else self.seen.graph()

    def put_link(self, link: Link) -> Link:
        self._graph = self.graph.with_link(link)
        return self.put(LINKS, link)

    def drop_link(self, link: Link) -> None:
        self._graph = self.graph.without(link.id)
        self.drop(LINKS, link.id)

    def record(self, table: Table[R], *key: str | int) -> R | None:
        """A record as this draft leaves it."""
        return next(iter(self.records(table.one(*key))), None)

    def records(self, lookup: Lookup[R]) -> list[R]:
        """Records as this draft leaves them."""
        table, seen = lookup.table, self.seen.records(lookup)
        if self._changed is None:
            return seen
        untouched = [record for record in seen if (table.name, table.key(record)) not in self._touched]
        return [*untouched, *self._changed.find(lookup)]

    def put(self, table: Table[R], record: R) -> R:
        """Put a record: this is how it stands from now on."""
        self._change(table, table.key(record)).put(table, record)
        self.others.append(PutRecord(table, record))
        if isinstance(record, AuditEntry):
            self._audited.add(record.subject)
        return record

    def drop(self, table: AnyTable, *key: str | int) -> None:
        self._change(table, key).drop(table, key)
        self.others.append(DropRecord(table, key))

    def _change(self, table: AnyTable, key: Key) -> Shelves:
        if self._changed is None:
            self._changed = Shelves()
        self._touched.add((table.name, key))
        if table.audited_as:
            self._unaudited.add(table.subject(key))
        return self._changed

    def emit(
        self,
        kind: EventType,
        room: Room | None = None,
        *,
        by: ParticipantId | None = None,
        seq: int = 0,
        turn: Turn | None = None,
        body: JsonObject | None = None,
    ) -> None:
        """Record an event. A turn goes into it without what its agent was given, which only the inspector shows."""
        if turn is not None and (turn.given is not None or turn.steps):
            turn = structs.replace(turn, given=None, steps=())
        conversation = room.id if room is not None else None
        self.others.append(Emit(Event(kind, self.at.now, conversation, by, seq, turn, body)))

    def add(self, change: Change) -> None:
        self.others.append(change)

    def changes(self) -> list[Change]:
        """Rows first, then their events, in the order in which they happened. The draft ends here: it and its rooms
        refer to each other, and would otherwise stay in memory until the next garbage collection, thousands of
        drafts later."""
        if self._unaudited and (forgotten := self._unaudited - self._audited):
            raise Unaudited(f"{', '.join(sorted(forgotten))} changed without an entry in the audit")
        found: list[Change] = []
        if self._people:
            found += map(PutParticipant, self._people.values())
        for room in self._rooms.values():
            room.changes(found)
        self._rooms.clear()
        if self._roots:
            found += map(PutRoot, self._roots.values())
        if self._pairs:
            found += map(PutPair, self._pairs.values())
        if self._quotas:
            found += map(PutQuota, self._quotas.values())
        found += self.others
        return found
