"""How what came of a question reaches whoever asked it, exactly once.

As a rule its asker waits for it in some process: then the answer calls nobody, and counts as unheard until that
process says that it has it (hear_answer.py). Where that process is gone, or its asker went on without the answer, the
asker gets a turn in the conversation of the question: for the answer itself, or for a notice that there is none.

Above: obligations.py when a turn ends, give_up.py when nobody waits any longer, sweep.py when a deadline has passed.
Below: post.append makes messages. Not here: rings of waiting (rules/rings.py), tasks (task_report.py).
"""

from msgspec import structs

from moot.flow import post
from moot.flow.steps.task_report import THE_SYSTEM
from moot.model.ids import SYSTEM, HostId, ParticipantId, RootId, address
from moot.model.message import Message
from moot.model.participant import TAKES_TURNS
from moot.model.records.wait import NO_ANSWER, WAITS, Wait
from moot.model.turn import NOBODY, Call, RuleName, Turn, TurnState
from moot.rules import brakes, links, why
from moot.rules.floor.calls import Called
from moot.rules.room import Room


def question_ended(room: Room, turn: Turn, question: Call) -> None:
    """A turn that was to answer a question is over, whatever ended it."""
    if not question.awaited or question.human:  # its asker knows what it wanted to know; people read it
        return
    answer = turn.message if turn.state is TurnState.SAID else 0
    if question.is_waited_for(room.now):
        _unheard(room, turn, question, answer or NO_ANSWER)
    elif answer or not question.waits_in:
        room.draft.drop(WAITS, room.id, question.seq)
        if not answer:
            text = f"{room.draft.name(turn.agent)} gave no answer to question #{question.seq}"
            _tell(room, question.by, question.seq, text, question)


def question_closed(room: Room, turn: Turn, question: Call) -> None:
    """A question ends with its conversation, where nobody can be given a turn any more: whoever waits hears it."""
    if question.awaited and not question.human:
        if question.is_waited_for(room.now):
            _unheard(room, turn, question, NO_ANSWER)
        else:
            room.draft.drop(WAITS, room.id, question.seq)


def _unheard(room: Room, turn: Turn, question: Call, answer: int) -> None:
    wait = Wait(room.id, question.seq, question.by, turn.agent, question.awaited, question.waits_in, answer)
    room.draft.put(WAITS, wait)


def hand_over(room: Room, wait: Wait, question: Message | None, answer: Message | None) -> None:
    """Nobody has heard what came of a question where it was waited for: its asker gets a turn for it."""
    room.draft.drop(WAITS, wait.conversation, wait.seq)
    asker = room.members.get(wait.asker)
    if asker is None or not asker.speaks or room.conversation.archived:
        return
    if answer is not None:
        if asker.cursor < answer.seq:
            _wake(room, wait.asker, answer)
        return
    text = f"{room.draft.name(wait.target)} gave no answer to question #{wait.seq}"
    _tell(room, wait.asker, wait.seq, text, question)


def expire(room: Room) -> None:
    """Whoever went on without its answer is told when its time is over. One that comes later is a message like any
    other."""
    for wait in room.draft.records(WAITS.where(conversation=room.id)):
        if 0.0 < wait.left_until <= room.now:
            room.draft.drop(WAITS, wait.conversation, wait.seq)
            origin: Call | None = None
            for turn in [*room.turns.values(), *room.asks.all()]:
                if (question := turn.question) is not None and question.seq == wait.seq:
                    origin = question
                    unawaited(room, turn)
            if not room.conversation.archived:
                text = f"{room.draft.name(wait.target)} has not answered question #{wait.seq} in time"
                _tell(room, wait.asker, wait.seq, text, origin)


def left_alone(room: Room, turn: Turn) -> None:
    """Whoever asked what this turn answers went on, and is called by what comes of it."""
    _change_question(room, turn, waits_in=HostId(""))


def unawaited(room: Room, turn: Turn) -> None:
    """Whoever asked what this turn answers knows that its time is over."""
    _change_question(room, turn, awaited=0.0)


def _change_question(room: Room, turn: Turn, **fields: object) -> None:
    calls = tuple(structs.replace(call, **fields) if call == turn.question else call for call in turn.calls)
    room.join_turn(structs.replace(turn, calls=calls))


def _wake(room: Room, asker: ParticipantId, answer: Message) -> None:
    """A turn for a message that called nobody when it was stored."""
    human = answer.kind not in TAKES_TURNS
    by = NOBODY if human else answer.author
    call = Call(asker, answer.seq, human, 1, answer.hop, answer.root, RuleName.DIRECT, by=by)
    blocks = _blocks(room, call)
    room.floor.hand_out(room, answer, Called(room.draft.name(answer.author), [call], blocks, [], None, 1))
    post.move_on(room)


def _tell(room: Room, asker: ParticipantId, question: int, text: str, origin: Call | Message | None) -> None:
    """A notice that gives the asker a turn, on the chain of its question as far as that is known."""
    member, seq = room.members.get(asker), room.conversation.next_seq
    if member is None or not member.speaks:
        return
    root, hop = (RootId(address(room.id, seq)), 0) if origin is None else (origin.root, origin.hop)
    call = Call(asker, seq, False, 1, hop, root, RuleName.DIRECT, by=SYSTEM)
    blocks = _blocks(room, call)
    message = post.append(
        room,
        links.OF_SYSTEM,
        Message(
            conversation=room.id,
            seq=seq,
            author=SYSTEM,
            kind=THE_SYSTEM.kind,
            text=f"[{text}]",
            root=root,
            hop=hop,
            at=room.now,
            reply_to=question,
            metadata={"notice": "unanswered", "question": address(room.id, question)},
            plan=why.plan(room, THE_SYSTEM, [call], blocks, 1),
        ),
    )
    room.floor.hand_out(room, message, Called(THE_SYSTEM.name, [call], blocks, [], None, 1))
    post.move_on(room)


def _blocks(room: Room, call: Call) -> dict[ParticipantId, RuleName]:
    """The rule that keeps the asker from a turn, if one does."""
    stop = brakes.chain_stop(call, room.draft.root(call.root), room.draft.at.terms.limits)
    if stop is None and room.draft.participant(call.agent).gets_no_turns:
        stop = RuleName.PAUSED
    return {} if stop is None else {call.agent: stop}
