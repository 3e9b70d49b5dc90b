"""The desk: the part of the store that one transaction works on, and what of it has become dirty.

A batch loads the scopes of all its commands at once; from then on the desk is the only source. Each decision is
folded into it, so the next command in the batch sees it; at the end the dirty rows are written once.
"""

from collections.abc import Collection, Iterable, Set
from typing import Any

from moot.model.chain import Pair, Root
from moot.model.conversation import Conversation, Member
from moot.model.event import Commit, Event
from moot.model.ids import ConversationId, HostId, ParticipantId, RootId, TurnId, address
from moot.model.message import Message, Revision, Summary
from moot.model.participant import Host, Participant, Quota
from moot.model.records.link import CHANNEL
from moot.model.records.record import AnyTable, Key, Lookup, R, Shelves, Table
from moot.model.round import Round
from moot.model.turn import OPEN, Turn, TurnState
from moot.rules.floor.asks import Asks
from moot.rules.floor.roster import Roster
from moot.rules.graph import NO_LINKS, Graph

NOBODY: dict[ParticipantId, Member] = {}
NO_TURNS: dict[ParticipantId, Turn] = {}
NO_ASKS = Asks()
NO_ROUNDS: dict[int, Round] = {}
NO_MESSAGES: Set[int] = frozenset()
KEPT = (
    "conversations",
    "dropped_conversations",
    "dropped_hosts",
    "dropped_members",
    "hosts",
    "members",
    "pairs",
    "participants",
    "quotas",
    "roots",
    "rounds",
    "turns",
)
"""The parts of what a batch writes that belong to a kept desk (kept_desk.py)."""


class Dirty:
    """Rows to write, each once, whatever the number of decisions that touched it."""

    __slots__ = (
        "conversations",
        "dropped_conversations",
        "dropped_hosts",
        "dropped_members",
        "dropped_records",
        "events",
        "forgotten_summaries",
        "hosts",
        "members",
        "messages",
        "pairs",
        "participants",
        "quotas",
        "records",
        "revisions",
        "roots",
        "rounds",
        "summaries",
        "texts",
        "turns",
        "whole_conversations",
        "whole_turns",
    )

    def __init__(self) -> None:
        self.messages: list[Message] = []
        self.revisions: list[tuple[Message, Revision]] = []
        self.conversations: dict[ConversationId, Conversation] = {}
        self.whole_conversations: set[ConversationId] = set()
        """Conversations of which more may have changed than talking changes; of the others an engine need not
        write, nor index again, what stayed the same."""
        self.dropped_conversations: set[ConversationId] = set()
        self.members: dict[tuple[ConversationId, ParticipantId], Member] = {}
        self.dropped_members: set[tuple[ConversationId, ParticipantId]] = set()
        self.turns: dict[TurnId, Turn] = {}
        self.whole_turns: set[TurnId] = set()
        """Turns of which more may have changed than the messages that call them."""
        self.rounds: dict[tuple[ConversationId, int], Round] = {}
        self.roots: dict[RootId, Root] = {}
        self.pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
        self.participants: dict[ParticipantId, Participant] = {}
        self.quotas: dict[ParticipantId, Quota] = {}
        self.hosts: dict[HostId, Host] = {}
        self.dropped_hosts: set[HostId] = set()
        self.summaries: list[Summary] = []
        self.forgotten_summaries: set[ConversationId] = set()
        self.texts: dict[str, str] = {}
        self.records: dict[str, dict[Key, Any]] = {}
        """By the name of their table."""
        self.dropped_records: dict[str, set[Key]] = {}
        self.events: list[Event] = []

    def put_record(self, table: Table[R], record: R) -> None:
        key = table.key(record)
        self.records.setdefault(table.name, {})[key] = record
        self.dropped_records.get(table.name, set()).discard(key)

    def drop_record(self, table: AnyTable, key: Key) -> None:
        self.records.get(table.name, {}).pop(key, None)
        self.dropped_records.setdefault(table.name, set()).add(key)

    def drop_records_of(self, tables: Iterable[AnyTable], conversation: ConversationId) -> None:
        """Records that are erased with a conversation must not be written."""
        for table in tables:
            if table.ends_with_conversation and (put := self.records.get(table.name)):
                gone = {key: one for key, one in put.items() if one.conversation == conversation}
                left = {key: table.remnant(one) for key, one in gone.items()} if table.remnant else {}
                self.records[table.name] = {key: put[key] for key in put.keys() - gone.keys()} | left

    def changes_kept(self) -> bool:
        """Whether anything is written that a desk keeps from one batch to the next."""
        return any(getattr(self, name) for name in KEPT)

    def commit(self, follows: int | None = None, *, alone: bool = False) -> Commit:
        """What listeners get once it is written; `alone`: nobody else has written since the commit before."""
        revised = [message for message, _ in self.revisions]
        hosts = not alone or bool(self.hosts or self.dropped_hosts)
        return Commit(self.events, [*self.messages, *revised], follows, hosts)

    def __bool__(self) -> bool:
        return any(getattr(self, name) for name in self.__slots__)


class Desk:
    """What a batch has loaded. It is what verbs see (`Seen`), and engines fill it.

    Ids of turns and events come from here, and how they are given is the engine's (`turn_id`, `event_id`): they rise
    within a conversation, are never given twice, and nobody may expect the next one to be one more.
    """

    def __init__(self, next_turn: int, next_event: int) -> None:
        self.next_turn = next_turn
        self.next_event = next_event
        self.last_event: int | None = next_event - 1
        """The newest event there is; None where others may write one before this batch is committed."""
        self.alone = False
        """It is known that nobody else has written since the last commit."""
        self.conversations: dict[ConversationId, Conversation] = {}
        self.new_serials: set[str] = set()
        """Of the ids that this batch has given, to conversations and what stands beside them."""
        self.refs: dict[str, ConversationId] = {}
        """Names and keys of conversations that are not archived, and ids of all."""
        self.members_of: dict[ConversationId, dict[ParticipantId, Member]] = {}
        self.turns_of: dict[ConversationId, dict[ParticipantId, Turn]] = {}
        self.asks_of: dict[ConversationId, Asks] = {}
        """Questions that wait for their turn behind another one, oldest first."""
        self.rounds_of: dict[ConversationId, dict[int, Round]] = {}
        self.turns_by_id: dict[TurnId, Turn] = {}
        self.participants: dict[ParticipantId, Participant] = {}
        self.names: dict[str, ParticipantId] = {}
        self.rosters: dict[ConversationId, Roster] = {}
        """Made when first asked for; gone when anybody in them changes."""
        self.roots: dict[RootId, Root] = {}
        self.pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
        self.quotas: dict[ParticipantId, Quota] = {}
        self.messages: dict[tuple[ConversationId, int], Message] = {}
        self.by_people: dict[ConversationId, set[int]] = {}
        """Where somebody deletes: which of the newest messages are by people and stand, one more than are deleted."""
        self.keys: dict[tuple[ParticipantId, str], Message] = {}
        self.hosts_by_id: dict[HostId, Host] = {}
        self.shelves = Shelves()
        """Records that scopes have asked for."""
        self.links = NO_LINKS
        """The whole graph: every decision may ask who may speak to whom."""

    # --- filling -------------------------------------------------------------------------------------

    def add_conversation(self, conversation: Conversation) -> None:
        self.conversations[conversation.id] = conversation
        self.refs[conversation.id] = conversation.id
        if not conversation.archived:
            self.refs[conversation.name] = conversation.id
            if conversation.key:
                self.refs[conversation.key] = conversation.id

    def add_participant(self, participant: Participant) -> None:
        self.participants[participant.id] = participant
        self.rosters.clear()
        self.names[participant.id] = participant.id
        free = [n for n in (*participant.aliases, participant.name) if self.names.get(n) != n]  # ids are not
        self.names.update(dict.fromkeys(free, participant.id))

    def add_turn(self, turn: Turn) -> None:
        self.turns_by_id[turn.id] = turn
        open_ones = self.turns_of.setdefault(turn.conversation, {})
        if turn.is_queued_ask:
            self.asks_of.setdefault(turn.conversation, Asks()).put(turn)
            return
        if turn.conversation in self.asks_of:
            self.asks_of[turn.conversation].drop(turn.id)
        if turn.state in OPEN:
            is_behind = turn.agent not in open_ones and bool(open_ones)
            open_ones[turn.agent] = turn
            if is_behind:
                self._sort(open_ones)
        elif turn.agent in open_ones and open_ones[turn.agent].id == turn.id:
            del open_ones[turn.agent]

    def _sort(self, turns: dict[ParticipantId, Turn]) -> None:
        """A question that has waited may be older than turns that came on the floor before it."""
        ordered = sorted(turns.items(), key=lambda item: item[1].id)
        if list(turns) != [agent for agent, _ in ordered]:
            turns.clear()
            turns.update(ordered)

    # --- what verbs see --------------------------------------------------------------------------------

    def conversation(self, conversation: ConversationId) -> Conversation | None:
        return self.conversations.get(conversation)

    def find(self, ref: str) -> Conversation | None:
        found = self.refs.get(ref)
        return None if found is None else self.conversations.get(found)

    def members(self, conversation: ConversationId) -> dict[ParticipantId, Member]:
        return self.members_of.get(conversation, NOBODY)

    def turns(self, conversation: ConversationId) -> dict[ParticipantId, Turn]:
        return self.turns_of.get(conversation, NO_TURNS)

    def asks(self, conversation: ConversationId) -> Asks:
        return self.asks_of.get(conversation, NO_ASKS)

    def rounds(self, conversation: ConversationId) -> dict[int, Round]:
        return self.rounds_of.get(conversation, NO_ROUNDS)

    def participant(self, participant: ParticipantId) -> Participant | None:
        return self.participants.get(participant)

    def registry(self) -> dict[ParticipantId, Participant]:
        return self.participants

    def roster(self, conversation: ConversationId) -> Roster:
        found = self.rosters.get(conversation)
        if found is None:
            found = Roster(self.members(conversation).values(), self.participants)
            self.rosters[conversation] = found
        return found

    def named(self, name: str) -> Participant | None:
        found = self.names.get(name)
        return None if found is None else self.participants.get(found)

    def everyone(self) -> list[Participant]:
        return list(self.participants.values())

    def root(self, root: RootId) -> Root | None:
        return self.roots.get(root)

    def pair(self, sender: ParticipantId, receiver: ParticipantId) -> Pair | None:
        return self.pairs.get((sender, receiver))

    def quota(self, agent: ParticipantId) -> Quota | None:
        return self.quotas.get(agent)

    def turn(self, turn: TurnId) -> Turn | None:
        return self.turns_by_id.get(turn)

    def running_of(self, participant: ParticipantId) -> list[Turn]:
        running = TurnState.RUNNING
        return [t for t in self.turns_by_id.values() if t.agent == participant and t.state is running]

    def message(self, conversation: ConversationId, seq: int) -> Message | None:
        return self.messages.get((conversation, seq))

    def said_by_people(self, conversation: ConversationId) -> Set[int]:
        return self.by_people.get(conversation, NO_MESSAGES)

    def replay(self, author: ParticipantId, key: str) -> Message | None:
        return self.keys.get((author, key))

    def hosts(self) -> tuple[Host, ...]:
        return tuple(self.hosts_by_id.values())

    def graph(self) -> Graph:
        return self.links

    def records(self, lookup: Lookup[R]) -> list[R]:
        return self.shelves.find(lookup)

    def record(self, table: Table[R], *key: str | int) -> R | None:
        return next(iter(self.shelves.find(table.one(*key))), None)

    def turn_id(self) -> TurnId:
        given = self.next_turn
        self.next_turn += 1
        return TurnId(given)

    def note_new(self, conversation: ConversationId) -> ConversationId:
        self.new_serials.add(serial(conversation))
        return conversation

    def event_id(self) -> int:
        given = self.last_event = self.next_event
        self.next_event += 1
        return given


def serial(conversation: str) -> str:
    """What an id has in common with all that are made of it: those of a task, of a link and of its channel."""
    return conversation.removeprefix(CHANNEL)[1:]


def chains_of(desk: Desk, rooms: Collection[ConversationId] | None = None) -> set[RootId]:
    """Every chain that a decision about what the desk holds, or about some of its rooms, may charge. Engines load them
    last."""
    here = desk.conversations.keys() if rooms is None else rooms
    roots: set[RootId] = set()
    for turn in desk.turns_by_id.values():
        if turn.state in OPEN and (rooms is None or turn.conversation in rooms):
            roots.update((turn.root, *turn.charged, *[call.root for call in turn.calls]))
    for where in here:
        for round_ in desk.rounds(where).values():
            calls = (*round_.pending, *round_.blocked)
            roots.update((round_.root, RootId(address(where, round_.shared_human))))
            roots.update([call.root for call in calls])
            roots.update([utterance.root for utterance in round_.utterances])
    for conversation in [desk.conversations[where] for where in here]:
        roots.add(RootId(address(conversation.id, conversation.last_human)))
        roots.update([call.root for call in conversation.blocked])
    roots.update([RootId(quota.last_root) for quota in desk.quotas.values()])
    roots.discard(RootId(""))
    return roots
