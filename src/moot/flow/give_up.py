"""Give up: whoever asked waits no longer, so the answer will call it as any other message does.

Above: hub/commands/ask.py and ask_person.py, when a program stops waiting before its time, and when the process in
which somebody waited is gone. Without this an answer that
comes after all would wake nobody until the time that was set is over.
"""

from msgspec import Struct, structs

from moot.flow.steps import find
from moot.model.change import Decision
from moot.model.ids import ConversationId, TurnId
from moot.model.moment import Moment
from moot.model.records.decision import DECISIONS, DecisionId, DecisionState
from moot.model.records.wait import WAITS
from moot.model.turn import Turn
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.rings import waited_for
from moot.rules.room import Room


class GiveUp(Struct, frozen=True, gc=False):
    conversation: ConversationId
    seq: int
    """The question."""
    turn: TurnId | None = None
    """The turn that it called when it was posted."""
    decision: DecisionId | None = None
    """What a person was asked to decide: that stays open, for as long as it takes."""


def scope(command: GiveUp) -> Scope:
    turns = () if command.turn is None else (command.turn,)
    records = () if command.decision is None else (DECISIONS.one(command.decision),)
    return Scope(conversations=(command.conversation,), turns=turns, records=records)


def decide(command: GiveUp, seen: Seen, at: Moment) -> Decision[None]:
    if seen.conversation(command.conversation) is None:
        return Decision([], None)
    draft = Draft(seen, at)
    room = draft.room(find.conversation(seen, command.conversation))
    waiting = room.asks.get(command.turn) if command.turn is not None else None
    for turn in (*room.turns.values(), *(() if waiting is None else (waiting,))):
        if turn.question is not None and turn.question.seq == command.seq:
            waited_for(room, turn.question)
            _unawaited(room, turn, command.seq)
    asked = seen.record(DECISIONS, command.decision) if command.decision is not None else None
    if asked is not None and asked.state is DecisionState.OPEN:
        draft.put(DECISIONS, structs.replace(asked, until=0.0, updated_at=at.now))
        draft.drop(WAITS, asked.conversation, asked.seq)
    return Decision(draft.changes(), None)


def _unawaited(room: Room, turn: Turn, seq: int) -> None:
    calls = tuple(structs.replace(call, awaited=0.0) if call.seq == seq else call for call in turn.calls)
    room.join_turn(structs.replace(turn, calls=calls))
