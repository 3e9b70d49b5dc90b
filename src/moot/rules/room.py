"""One conversation inside a decision in the making: as it was seen, until the first put; then as it is to be.

Above: draft.py makes the rooms of a decision, verbs and the floor move in them. Not here: whose turn it is
(floor/).
"""

from collections.abc import Set
from typing import TYPE_CHECKING, Unpack

from msgspec import Struct, structs

from moot.model.change import (
    Change,
    DropMember,
    JoinTurn,
    PutConversation,
    PutMember,
    PutRound,
    PutTurn,
    TalkIn,
)
from moot.model.conversation import Conversation, GroupSettings, Member, Talk
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.json import JsonObject
from moot.model.round import Round
from moot.model.turn import OPEN, Turn
from moot.rules.floor.asks import Asks, ChangedAsks
from moot.rules.floor.roster import Roster

if TYPE_CHECKING:
    from moot.rules.draft import Draft
    from moot.rules.floor.floor import Floor


class Notice(Struct, frozen=True, gc=False):
    """Something the system will say in the conversation once the rules are done."""

    text: str
    metadata: JsonObject = {}


class Room(Struct, eq=False):
    """One conversation inside a draft."""

    draft: "Draft"
    id: ConversationId
    now: float
    conversation: Conversation
    takes_rounds: bool
    settings: GroupSettings
    floor: "Floor"
    """Whose turn it is here: by rounds, or one to one."""
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
        self.members = {
            participant_id: member
            for participant_id, member in self.members.items()
            if participant_id != participant
        }
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
