"""A decision in the making: what was seen, with this decision's own changes laid over it.

Verbs and rules read and write a `Draft`; the store never does. What was seen is not touched: a refusal
throws the draft away and nothing has happened. `changes()` is what the fold gets.
"""

from collections.abc import Set
from typing import Any, Protocol, Unpack

from msgspec import Struct, structs

from moot.model.bookmark import Bookmark, BookmarkKey
from moot.model.chain import Pair, Root
from moot.model.change import (
    Change,
    DropMember,
    Emit,
    JoinTurn,
    PutConversation,
    PutMember,
    PutPair,
    PutParticipant,
    PutQuota,
    PutRoot,
    PutRound,
    PutTurn,
    TalkIn,
)
from moot.model.conversation import Conversation, GroupSettings, Member, Talk
from moot.model.event import Event
from moot.model.ids import ConversationId, ParticipantId, RootId, TurnId
from moot.model.message import Message
from moot.model.moment import Moment
from moot.model.participant import Host, Participant, Quota
from moot.model.round import Round
from moot.model.token import Token, TokenId
from moot.model.turn import OPEN, Turn
from moot.rules.asks import Asks, ChangedAsks
from moot.rules.floor.roster import Roster


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
    def token(self, token: TokenId) -> Token | None: ...
    def tokens_of(self, participant: ParticipantId) -> list[Token]: ...
    def bookmark(self, key: BookmarkKey) -> Bookmark | None: ...
    def bookmarks_of(self, participant: ParticipantId) -> list[Bookmark]: ...
    def everyone(self) -> list[Participant]: ...


class Notice(Struct, frozen=True, gc=False):
    """Something the system will say in the conversation once the rules are done."""

    text: str
    metadata: dict[str, Any] = {}


class Room(Struct, eq=False):
    """One conversation inside a draft."""

    draft: "Draft"
    id: ConversationId
    now: float
    conversation: Conversation
    takes_rounds: bool
    settings: GroupSettings
    members: dict[ParticipantId, Member]
    """These four are what was seen, until the first put: then a copy of it that is ours to change."""
    turns: dict[ParticipantId, Turn]
    asks: Asks
    """Questions that wait behind another one of the same agent, oldest first."""
    rounds: dict[int, Round]
    roster: Roster
    """Who the members are that speak in turns, and which of them are here."""
    asks_changed: bool = False
    put_turns: dict[TurnId, Turn] = {}
    joined_turns: dict[TurnId, Turn] = {}
    put_rounds: dict[int, Round] = {}
    put_members: dict[ParticipantId, Member] = {}
    dropped: list[ParticipantId] = []
    notices: list[Notice] = []
    talked: bool = False
    changed: bool = False
    agents_: list[Member] | None = None
    here_: Set[ParticipantId] | None = None

    def agents(self) -> list[Member]:
        """The members that speak in turns, in joining order."""
        if self.agents_ is None:
            self.agents_ = [member for member in self.members.values() if member.speaks]
        return self.agents_

    def here(self) -> Set[ParticipantId]:
        """The agents that are present."""
        if self.here_ is None:
            self.here_ = self.roster.here(self.now)
        return self.here_

    def regroup(self) -> None:
        """Somebody came, went or became another in this draft."""
        self.roster, self.here_ = Roster(self.members.values(), self.draft.registry()), None

    def put_conversation(self, conversation: Conversation) -> None:
        if conversation.settings is not self.conversation.settings:
            self.settings = conversation.settings.over(self.draft.at.terms.groups)
        self.conversation = conversation
        self.changed = True

    def talk(self, **now: Unpack[Talk]) -> None:
        """The conversation moves on as it does by talking."""
        self.conversation = structs.replace(self.conversation, **now)
        self.talked = True

    def put_member(self, member: Member) -> None:
        if not self.put_members:
            self.members = dict(self.members)
        came = member.participant not in self.members
        self.members[member.participant] = member
        self.put_members[member.participant] = member
        self.agents_ = None
        if came:
            self.regroup()

    def drop_member(self, participant: ParticipantId) -> None:
        self.members = {who: member for who, member in self.members.items() if who != participant}
        self.put_members.pop(participant, None)
        self.dropped.append(participant)
        self.agents_ = None
        self.regroup()

    def put_turn(self, turn: Turn) -> Turn:
        turns = self._turns_to_change()
        if turn.is_queued_ask or turn.id in self.asks:
            self._change_asks(turn)
        if turn.state not in OPEN:
            if turn.agent in turns and turns[turn.agent].id == turn.id:
                del turns[turn.agent]
        elif not turn.is_queued_ask:
            turns[turn.agent] = turn
        self.put_turns[turn.id] = turn
        self.joined_turns.pop(turn.id, None)
        return turn

    def _change_asks(self, turn: Turn) -> None:
        if not self.asks_changed:
            self.asks, self.asks_changed = ChangedAsks(self.asks), True
        if turn.is_queued_ask:
            self.asks.put(turn)
        else:
            self.asks.drop(turn.id)

    def join_turn(self, turn: Turn) -> Turn:
        """An open turn that other messages call now, and that is otherwise as it was."""
        if turn.id in self.put_turns or turn.is_queued_ask:
            return self.put_turn(turn)
        self._turns_to_change()[turn.agent] = self.joined_turns[turn.id] = turn
        return turn

    def _turns_to_change(self) -> dict[ParticipantId, Turn]:
        if not self.put_turns and not self.joined_turns:
            self.turns = dict(self.turns)
        return self.turns

    def put_round(self, round_: Round) -> Round:
        if not self.put_rounds:
            self.rounds = dict(self.rounds)
        self.rounds[round_.opener] = round_
        self.put_rounds[round_.opener] = round_
        return round_

    def forget_round(self, opener: int) -> None:
        """A round that opened and closed in this very draft and left nothing behind is not worth a row."""
        self.rounds.pop(opener, None)
        self.put_rounds.pop(opener, None)

    def changes(self, found: list[Change]) -> None:
        if self.changed:
            found.append(PutConversation(self.conversation))
        elif self.talked:
            found.append(TalkIn(self.conversation))
        if self.dropped:
            found += [DropMember(self.id, gone) for gone in self.dropped]
        if self.put_members:
            found += map(PutMember, self.put_members.values())
        if self.put_rounds:
            found += map(PutRound, self.put_rounds.values())
        if self.put_turns:
            found += map(PutTurn, self.put_turns.values())
        if self.joined_turns:
            found += map(JoinTurn, self.joined_turns.values())


class Draft(Struct, eq=False):
    seen: Seen
    at: Moment
    others: list[Change] = []
    _rooms: dict[ConversationId, Room] = {}
    _roots: dict[RootId, Root] = {}
    _pairs: dict[tuple[ParticipantId, ParticipantId], Pair] = {}
    _quotas: dict[ParticipantId, Quota] = {}
    _people: dict[ParticipantId, Participant] = {}

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

    def emit(
        self,
        kind: str,
        room: Room | None = None,
        *,
        by: ParticipantId | None = None,
        seq: int = 0,
        turn: Turn | None = None,
        body: dict[str, Any] | None = None,
    ) -> None:
        """Tell what happened. A turn is told without what it was given, which only its inspector shows."""
        if turn is not None and (turn.given is not None or turn.steps):
            turn = structs.replace(turn, given=None, steps=())
        conversation = room.id if room is not None else None
        self.others.append(Emit(Event(kind, self.at.now, conversation, by, seq, turn, body)))

    def add(self, change: Change) -> None:
        self.others.append(change)

    def changes(self) -> list[Change]:
        """Rows first, then what is told about them, in the order it happened. The draft is done with: it and its
        rooms know each other, and would lie about until somebody looked for such rings, thousands of drafts later."""
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
