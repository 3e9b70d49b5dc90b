"""Rows in memory: the shelf they lie on, and the engine that loads and writes them.

It loads exactly what a scope names, as the real engines do, so that a verb which looks further than its scope
fails here too. Above: memory.py, the store made of it.
"""

from collections.abc import Iterable, Sequence
from secrets import token_hex

from msgspec import structs

from moot.model.chain import Pair, Root
from moot.model.conversation import Conversation, ConversationKind, Member
from moot.model.event import Event
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId
from moot.model.message import Message, Revision, Summary
from moot.model.participant import Host, Kind, Participant, Quota
from moot.model.records.link import LINKS
from moot.model.records.record import Shelves
from moot.model.records.tables import TABLES
from moot.model.records.task import TASKS
from moot.model.round import Round, RoundState
from moot.model.turn import OPEN, Turn, TurnState
from moot.ports import Scope
from moot.rules.graph import Graph
from moot.stores.desk import Desk, Dirty, chains_of

PAIRED = (ConversationKind.DIRECT, ConversationKind.LINK)


class Shelf:
    """All rows. Values are frozen, so sharing them is safe."""

    def __init__(self) -> None:
        self.conversations: dict[ConversationId, Conversation] = {}
        self.members: dict[ConversationId, dict[ParticipantId, Member]] = {}
        self.messages: dict[ConversationId, list[Message]] = {}
        self.revisions: dict[ConversationId, list[Revision]] = {}
        self.keys: dict[tuple[ParticipantId, str], tuple[ConversationId, int]] = {}
        self.turns: dict[TurnId, Turn] = {}
        self.open_turns: dict[ConversationId, dict[TurnId, Turn]] = {}
        self.rounds: dict[ConversationId, dict[int, Round]] = {}
        self.roots: dict[RootId, Root] = {}
        self.pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
        self.participants: dict[ParticipantId, Participant] = {}
        self.quotas: dict[ParticipantId, Quota] = {}
        self.hosts: dict[HostId, Host] = {}
        self.summaries: dict[ConversationId, list[Summary]] = {}
        self.texts: dict[str, str] = {}
        self.records = Shelves()
        self.secret = token_hex(16)
        self.events: list[Event] = []
        self.next_turn = 1
        self.next_event = 1
        self.horizon = 0


class MemoryEngine:
    """Begin and commit mean nothing here: a batch is written in one go or not at all."""

    desk: type[Desk] = Desk
    """What gives the ids."""

    def __init__(self, shelf: Shelf) -> None:
        self.shelf = shelf

    def begin(self) -> None: ...
    def commit(self) -> None: ...
    def rollback(self) -> None: ...
    def close(self) -> None: ...

    # --- loading ---------------------------------------------------------------------------------------

    def load(self, scopes: Sequence[Scope]) -> Desk:
        shelf = self.shelf
        desk = self.desk(shelf.next_turn, shelf.next_event)
        desk.links = Graph(shelf.records.find(LINKS.all()))
        for scope in scopes:
            for turn in self._named_turns(scope):
                desk.add_turn(turn)
            wanted = {*scope.conversations, *self._find(scope.refs)}
            wanted |= {turn.conversation for turn in self._named_turns(scope)}
            for conversation in wanted:
                self._load_conversation(desk, conversation)
            self._load_people(desk, scope)
            for where, seq in scope.messages:
                if (message := self._message(where, seq)) is not None:
                    desk.messages[where, seq] = message
            for where, seq in scope.people_before:
                desk.by_people[where] = self._by_people(where, seq)
            if scope.key is not None and (at := shelf.keys.get(scope.key)) is not None:
                found = self._message(*at)
                if found is not None:
                    desk.keys[scope.key] = found
            self._load_roots(desk, scope.roots)
            self._load_records(desk, scope)
            if scope.hosts:
                desk.hosts_by_id.update(shelf.hosts)
        self._load_roots(desk, chains_of(desk))
        return desk

    def _named_turns(self, scope: Scope) -> list[Turn]:
        named = [self.shelf.turns[turn] for turn in scope.turns if turn in self.shelf.turns]
        if scope.running_of is not None:
            running = (turn for by_id in self.shelf.open_turns.values() for turn in by_id.values())
            named += [t for t in running if t.agent == scope.running_of and t.state is TurnState.RUNNING]
        return named

    def _find(self, refs: Iterable[str]) -> set[ConversationId]:
        return {
            conversation.id
            for conversation in self.shelf.conversations.values()
            for ref in refs
            if ref
            and (
                ref == conversation.id
                or (not conversation.archived and ref in (conversation.name, conversation.key))
            )
        }

    def _load_conversation(self, desk: Desk, where: ConversationId) -> None:
        shelf = self.shelf
        conversation = shelf.conversations.get(where)
        if conversation is None or where in desk.conversations:
            return
        desk.add_conversation(conversation)
        members = shelf.members.get(where, {})
        desk.members_of[where] = dict(sorted(members.items(), key=lambda item: item[1].position))
        for participant in members:
            self._load_person(desk, participant)
        turns = list(shelf.open_turns.get(where, {}).values())
        for turn in turns:
            desk.add_turn(turn)
        kept = {turn.round for turn in turns} | {conversation.stalled}
        rounds = {
            opener: round_
            for opener, round_ in sorted(shelf.rounds.get(where, {}).items())
            if round_.state is not RoundState.CLOSED or opener in kept
        }
        desk.rounds_of[where] = rounds
        if conversation.kind is ConversationKind.TASK:
            self._load_tasks(desk, where)
        if conversation.kind in PAIRED:
            for pair in ((a, b) for a in members for b in members if a != b):
                if pair in shelf.pairs:
                    desk.pairs[pair] = shelf.pairs[pair]

    def _load_tasks(self, desk: Desk, branch: ConversationId) -> None:
        """The task of a branch with the parts that were handed further down, and the conversations in which its end is
        reported."""
        for part in self.shelf.records.find(TASKS.where(open_in=branch)):
            desk.shelves.put(TASKS, part)
        for task in self.shelf.records.find(TASKS.where(conversation=branch)):
            desk.shelves.put(TASKS, task)
            self._load_roots(desk, (task.root,))
            for where in (task.channel, task.asked_in):
                self._load_conversation(desk, where)

    def _load_roots(self, desk: Desk, roots: Iterable[RootId]) -> None:
        for root in roots:
            if root not in desk.roots and root in self.shelf.roots:
                desk.roots[root] = self.shelf.roots[root]

    def _load_records(self, desk: Desk, scope: Scope) -> None:
        for lookup in scope.records:
            for record in self.shelf.records.find(lookup):
                desk.shelves.put(lookup.table, record)

    def _load_people(self, desk: Desk, scope: Scope) -> None:
        for participant in self.shelf.participants.values():
            names = (participant.id, participant.name, *participant.aliases)
            if scope.everyone or any(name in scope.names for name in names):
                self._load_person(desk, participant.id)

    def _load_person(self, desk: Desk, participant_id: ParticipantId) -> None:
        if participant_id in desk.participants:
            return
        desk.add_participant(self.person(participant_id))
        if participant_id in self.shelf.quotas:
            desk.quotas[participant_id] = self.shelf.quotas[participant_id]

    def person(self, participant_id: ParticipantId) -> Participant:
        """A participant with its presence: an agent's is its host's lease."""
        participant = self.shelf.participants[participant_id]
        if participant.kind is not Kind.AGENT:
            return participant
        host = self.shelf.hosts.get(participant.host) if participant.host is not None else None
        return structs.replace(participant, live_until=host.lease_until if host else 0.0)

    def _message(self, where: ConversationId, seq: int) -> Message | None:
        messages = self.shelf.messages.get(where, [])
        return messages[seq - 1] if 0 < seq <= len(messages) else None

    def _by_people(self, where: ConversationId, below: int) -> set[int]:
        messages = self.shelf.messages.get(where, [])[: max(below - 1, 0)]
        standing = [m.seq for m in messages if m.kind is Kind.HUMAN and not m.is_deleted]
        return set(standing)

    # --- writing ---------------------------------------------------------------------------------------

    def write(self, dirty: Dirty) -> None:  # noqa: C901  a loop per table
        shelf = self.shelf
        for where in dirty.dropped_conversations:
            self._erase(where)
        shelf.conversations.update(dirty.conversations)
        for (where, participant_id), member in dirty.members.items():
            shelf.members.setdefault(where, {})[participant_id] = member
        for where, participant_id in dirty.dropped_members:
            shelf.members.get(where, {}).pop(participant_id, None)
        for message in dirty.messages:
            shelf.messages.setdefault(message.conversation, []).append(message)
            if message.key:
                shelf.keys[message.author, message.key] = (message.conversation, message.seq)
        for message, revision in dirty.revisions:
            shelf.messages[message.conversation][message.seq - 1] = message
            shelf.revisions.setdefault(message.conversation, []).append(revision)
        for turn in dirty.turns.values():
            self._write_turn(turn)
        for (where, opener), round_ in dirty.rounds.items():
            shelf.rounds.setdefault(where, {})[opener] = round_
        for where in dirty.forgotten_summaries:
            shelf.summaries.pop(where, None)
        for summary in dirty.summaries:
            shelf.summaries.setdefault(summary.conversation, []).append(summary)
        shelf.texts = {**dirty.texts, **shelf.texts} if dirty.texts else shelf.texts
        shelf.roots.update(dirty.roots)
        shelf.pairs.update(dirty.pairs)
        shelf.participants.update(dirty.participants)
        shelf.quotas.update(dirty.quotas)
        shelf.hosts.update(dirty.hosts)
        self._write_records(dirty)
        for host in dirty.dropped_hosts:
            shelf.hosts.pop(host, None)
        shelf.events += dirty.events
        if dirty.events:
            shelf.next_event = dirty.events[-1].id + 1

    def _write_records(self, dirty: Dirty) -> None:
        for table in TABLES:
            for key in dirty.dropped_records.get(table.name, ()):
                self.shelf.records.drop(table, key)
            for record in dirty.records.get(table.name, {}).values():
                self.shelf.records.put(table, record)

    def _write_turn(self, turn: Turn) -> None:
        shelf = self.shelf
        shelf.turns[turn.id] = turn
        shelf.next_turn = max(shelf.next_turn, turn.id + 1)
        here = shelf.open_turns.setdefault(turn.conversation, {})
        if turn.state in OPEN:
            here[turn.id] = turn
        else:
            here.pop(turn.id, None)

    def _erase(self, where: ConversationId) -> None:
        shelf = self.shelf
        shelf.keys = {key: at for key, at in shelf.keys.items() if at[0] != where}
        shelf.turns = {key: turn for key, turn in shelf.turns.items() if turn.conversation != where}
        shelf.records.drop_of_conversation(TABLES, where)
        for by_conversation in (
            shelf.conversations, shelf.members, shelf.messages, shelf.revisions, shelf.open_turns,
            shelf.rounds, shelf.summaries,
        ):  # fmt: skip
            by_conversation.pop(where, None)


STEP = 7


class SteppedDesk(Desk):
    """Gives ids with gaps between them, as a sequence does that several writers draw from."""

    def turn_id(self) -> TurnId:
        self.next_turn += STEP
        return super().turn_id()

    def event_id(self) -> int:
        self.next_event += STEP
        return super().event_id()


class SteppedEngine(MemoryEngine):
    """For tests: never gives out two consecutive ids. Ships in `moot.testing`."""

    desk = SteppedDesk
