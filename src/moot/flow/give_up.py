"""Give up: whoever asked waits no longer, where it waited; what comes of its question reaches it otherwise.

If it knows that its time is over, an answer that comes after all calls it as any message does. If its process is gone,
or it went on before its time, it also gets a turn where no answer comes, and for one that came while nobody listened.

Above: hub/commands/ask.py and ask_person.py. Below: steps/answers.py. Beside it: hear_answer.py, for whoever has heard
what it waited for.
"""

from msgspec import Struct, structs

from moot.flow.steps import answers
from moot.model.change import Decision
from moot.model.ids import NO_ROOT, ConversationId, HostId, RootId, TurnId
from moot.model.moment import Moment
from moot.model.records.decision import DECISIONS, DecisionId, DecisionState
from moot.model.records.wait import NO_ANSWER, WAITS, Wait
from moot.model.turn import Turn
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.room import Room


class GiveUp(Struct, frozen=True, gc=False):
    conversation: ConversationId
    seq: int
    """The question."""
    turn: TurnId | None = None
    """The turn that it called when it was posted."""
    decision: DecisionId | None = None
    """What a person was asked to decide: that stays open, for as long as it takes."""
    knows: bool = False
    """Whoever asked knows that its time is over."""
    root: RootId = NO_ROOT
    """The chain of the question."""
    answer: int = 0
    """The message that answers it, where the caller knows that there is one."""


class UnheardAnswer(Exception):
    """There is an answer that nobody has heard: give up again, with this one at hand."""

    def __init__(self, seq: int) -> None:
        super().__init__(seq)
        self.seq = seq


def scope(command: GiveUp) -> Scope:
    turns = () if command.turn is None else (command.turn,)
    decision = () if command.decision is None else (DECISIONS.one(command.decision),)
    seqs = (command.seq, command.answer) if command.answer > 0 else (command.seq,)
    return Scope(
        conversations=(command.conversation,),
        turns=turns,
        messages=tuple((command.conversation, seq) for seq in seqs),
        roots=(command.root,) if command.root else (),
        records=(WAITS.one(command.conversation, command.seq), *decision),
    )


def decide(command: GiveUp, seen: Seen, at: Moment) -> Decision[None]:
    where = seen.conversation(command.conversation)
    if where is None:
        return Decision([], None)
    draft = Draft(seen, at)
    room = draft.room(where)
    wait = seen.record(WAITS, command.conversation, command.seq)
    if command.knows:
        _knows(room, command)
    elif wait is not None and wait.answer:
        _hand_over(room, wait, command)
    else:
        _went_on(room, wait, command)
    return Decision(draft.changes(), None)


def _knows(room: Room, command: GiveUp) -> None:
    for turn in _answering(room, command):
        answers.unawaited(room, turn)
    room.draft.drop(WAITS, command.conversation, command.seq)


def _hand_over(room: Room, wait: Wait, command: GiveUp) -> None:
    if wait.answer not in (NO_ANSWER, command.answer):
        raise UnheardAnswer(wait.answer)
    message = room.draft.seen.message
    answer = message(wait.conversation, wait.answer) if wait.answer != NO_ANSWER else None
    answers.hand_over(room, wait, message(wait.conversation, wait.seq), answer)


def _went_on(room: Room, wait: Wait | None, command: GiveUp) -> None:
    draft, answering = room.draft, _answering(room, command)
    for turn in answering:
        answers.left_alone(room, turn)
    if command.decision is not None:
        decision = draft.seen.record(DECISIONS, command.decision)
        if decision is not None and decision.state is DecisionState.OPEN:
            draft.put(DECISIONS, structs.replace(decision, until=0.0, updated_at=draft.at.now))
        draft.drop(WAITS, command.conversation, command.seq)
    elif wait is not None and answering:
        draft.put(WAITS, structs.replace(wait, host=HostId("")))
    elif wait is not None:  # its turn has ended, and nobody noted how
        answers.hand_over(room, wait, draft.seen.message(wait.conversation, wait.seq), None)


def _answering(room: Room, command: GiveUp) -> list[Turn]:
    """The open turns that are to answer the question."""
    waiting = room.asks.get(command.turn) if command.turn is not None else None
    turns = (*room.turns.values(), *(() if waiting is None else (waiting,)))
    return [turn for turn in turns if turn.question is not None and turn.question.seq == command.seq]
