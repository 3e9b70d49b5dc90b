"""A decision in the making: what was seen, with this decision's own changes laid over it.

Verbs and rules read and write a `Draft`; the store never does. What was seen is not touched: a refusal
throws the draft away and nothing has happened. `changes()` is what the fold gets.
"""

from typing import Any, Protocol

from msgspec import Struct, structs

from moot.model.chain import Pair, Root
from moot.model.change import (
    Change,
    DropMember,
    Emit,
    PutConversation,
    PutMember,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRoot,
    PutRound,
    PutTurn,
)
from moot.model.conversation import Conversation, GroupSettings, Member
from moot.model.event import Event
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.message import Message
from moot.model.moment import Moment
from moot.model.participant import Host, Participant, Quota
from moot.model.round import Round
from moot.model.turn import OPEN, Turn


class Seen(Protocol):
    """The piece of the store that a verb's scope asked for. Reading it changes nothing."""

    def conversation(self, conversation: ConversationId) -> Conversation | None: ...
    def find(self, ref: str) -> Conversation | None: ...
    def members(self, conversation: ConversationId) -> dict[ParticipantId, Member]: ...
    def turns(self, conversation: ConversationId) -> dict[ParticipantId, Turn]: ...
    def rounds(self, conversation: ConversationId) -> dict[int, Round]: ...
    def participant(self, participant: ParticipantId) -> Participant | None: ...
    def named(self, name: str) -> Participant | None: ...
    def root(self, root: RootId) -> Root | None: ...
    def pair(self, sender: ParticipantId, receiver: ParticipantId) -> Pair | None: ...
    def quota(self, agent: ParticipantId) -> Quota | None: ...
    def turn(self, turn: TurnId) -> Turn | None: ...
    def running_of(self, participant: ParticipantId) -> list[Turn]: ...
    def message(self, conversation: ConversationId, seq: int) -> Message | None: ...
    def replay(self, author: ParticipantId, key: str) -> Message | None: ...
    def hosts(self) -> tuple[Host, ...]: ...
    def everyone(self) -> list[Participant]: ...


class Notice(Struct, frozen=True, gc=False):
    """Something the system will say in the conversation once the rules are done."""

    text: str
    metadata: dict[str, Any] = {}


class Room:
    """One conversation inside a draft."""

    __slots__ = (
        "agents_",
        "changed",
        "conversation",
        "draft",
        "dropped",
        "here_",
        "id",
        "members",
        "notices",
        "now",
        "put_members",
        "put_rounds",
        "put_turns",
        "rounds",
        "settings",
        "turns",
    )

    def __init__(self, draft: "Draft", conversation: Conversation) -> None:
        self.draft = draft
        self.id: ConversationId = conversation.id
        self.now: float = draft.at.now
        self.conversation = conversation
        self.settings: GroupSettings = conversation.settings.over(draft.at.terms.groups)
        self.members = dict(draft.seen.members(conversation.id))
        self.turns = dict(draft.seen.turns(conversation.id))
        self.rounds = dict(draft.seen.rounds(conversation.id))
        self.put_turns: dict[TurnId, Turn] = {}
        self.put_rounds: dict[int, Round] = {}
        self.put_members: dict[ParticipantId, Member] = {}
        self.dropped: list[ParticipantId] = []
        self.notices: list[Notice] = []
        self.changed = False
        self.agents_: list[Member] | None = None
        self.here_: set[ParticipantId] | None = None

    def agents(self) -> list[Member]:
        """The members that speak in turns, in joining order."""
        if self.agents_ is None:
            self.agents_ = [member for member in self.members.values() if member.speaks]
        return self.agents_

    def here(self) -> set[ParticipantId]:
        """The agents that are present."""
        if self.here_ is None:
            who, now = self.draft.participant, self.now
            self.here_ = {m.participant for m in self.agents() if who(m.participant).live_until > now}
        return self.here_

    def put_conversation(self, conversation: Conversation) -> None:
        if conversation.settings is not self.conversation.settings:
            self.settings = conversation.settings.over(self.draft.at.terms.groups)
        self.conversation = conversation
        self.changed = True

    def put_member(self, member: Member) -> None:
        if member.participant not in self.members:
            self.here_ = None
        self.members[member.participant] = member
        self.put_members[member.participant] = member
        self.agents_ = None

    def drop_member(self, participant: ParticipantId) -> None:
        self.members.pop(participant, None)
        self.put_members.pop(participant, None)
        self.dropped.append(participant)
        self.agents_ = self.here_ = None

    def put_turn(self, turn: Turn) -> Turn:
        if turn.state in OPEN:
            self.turns[turn.agent] = turn
        else:
            self.turns.pop(turn.agent, None)
        self.put_turns[turn.id] = turn
        return turn

    def put_round(self, round_: Round) -> Round:
        self.rounds[round_.opener] = round_
        self.put_rounds[round_.opener] = round_
        return round_

    def forget_round(self, opener: int) -> None:
        """A round that opened and closed in this very draft and left nothing behind is not worth a row."""
        self.rounds.pop(opener, None)
        self.put_rounds.pop(opener, None)

    def changes(self) -> list[Change]:
        found: list[Change] = []
        if self.changed:
            found.append(PutConversation(self.conversation))
        found += [DropMember(self.id, gone) for gone in self.dropped]
        found += [PutMember(member) for member in self.put_members.values()]
        found += [PutRound(round_) for round_ in self.put_rounds.values()]
        found += [PutTurn(turn) for turn in self.put_turns.values()]
        return found


class Draft:
    __slots__ = ("_pairs", "_participants", "_people", "_quotas", "_rooms", "_roots", "at", "others", "seen")

    def __init__(self, seen: Seen, at: Moment) -> None:
        self.seen = seen
        self.at = at
        self.others: list[Change] = []
        self._rooms: dict[ConversationId, Room] = {}
        self._roots: dict[RootId, Root] = {}
        self._pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
        self._quotas: dict[ParticipantId, Quota] = {}
        self._participants: dict[ParticipantId, Participant] = {}
        self._people: dict[ParticipantId, Participant] = {}

    def room(self, conversation: Conversation) -> Room:
        found = self._rooms.get(conversation.id)
        if found is None:
            found = self._rooms[conversation.id] = Room(self, conversation)
        return found

    def participant(self, participant: ParticipantId) -> Participant:
        found = self._people.get(participant)
        if found is None:
            found = self.seen.participant(participant)
            if found is None:
                raise LookupError(f"participant {participant} is not in the scope of this decision")
            self._people[participant] = found
        return found

    def name(self, participant: ParticipantId) -> str:
        """What to call somebody who may have left since; the id is the name it once had."""
        found = self._participants.get(participant) or self.seen.participant(participant)
        return found.name if found is not None else participant

    def put_participant(self, participant: Participant) -> None:
        self._participants[participant.id] = self._people[participant.id] = participant

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

    def emit(self, kind: str, room: Room | None = None, **fields: Any) -> None:
        """Tell what happened. A turn is told without what it was given, which only its inspector shows."""
        turn = fields.get("turn")
        if turn is not None and (turn.given is not None or turn.steps):
            fields["turn"] = structs.replace(turn, given=None, steps=())
        conversation = room.id if room is not None else None
        self.others.append(Emit(Event(type=kind, at=self.at.now, conversation=conversation, **fields)))

    def add(self, change: Change) -> None:
        self.others.append(change)

    def changes(self) -> list[Change]:
        """Rows first, then what is told about them, in the order it happened."""
        found: list[Change] = [PutParticipant(p) for p in self._participants.values()]
        for room in self._rooms.values():
            found += room.changes()
        found += [PutRoot(root) for root in self._roots.values()]
        found += [PutPair(pair) for pair in self._pairs.values()]
        found += [PutQuota(quota) for quota in self._quotas.values()]
        found += self.others
        return found
