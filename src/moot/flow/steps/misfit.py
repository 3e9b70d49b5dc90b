"""An answer that is not of the shape that was asked for: said to whoever gave it, once, and then to whoever asked.

The first time the turn is stopped as by an interruption: its words stay as a marked partial, a notice says what was
wrong and what is expected, and the same question calls the agent once more, inside the same brakes. The second time
the turn has failed, and the words are kept in it.

Above: finish.py, for every reply. Below: rules/answer_shape.py knows what fits.
"""

from msgspec import structs

from moot.flow import post
from moot.flow.steps import obligations
from moot.model.conversation import ConversationKind
from moot.model.ids import SYSTEM
from moot.model.json import JsonObject
from moot.model.turn import RuleName, Turn
from moot.rules import answer_shape
from moot.rules.floor import seats
from moot.rules.floor.calls import Called
from moot.rules.room import Room

ANSWER = "answer"
"""In the metadata of an answer: the value that was asked for."""


def meaning(room: Room, turn: Turn, text: str) -> JsonObject:
    """What a reply carries beside its text: the value, where one was asked for. Raises `Misfit`."""
    if not turn.shape or _is_news(room, turn):
        return {}
    return {ANSWER: answer_shape.answer(turn.shape, text)}


def _is_news(room: Room, turn: Turn) -> bool:
    """Whether a worker says how far it is, and not yet what came of it."""
    if room.conversation.kind is not ConversationKind.TASK:
        return False
    task = obligations.task_in(room.draft, room.id)
    return task is None or not task.is_open or task.kept_by == turn.id


def is_second(turn: Turn) -> bool:
    return any(call.asks_again for call in turn.calls)


def ask_again(room: Room, turn: Turn, text: str, problem: str) -> Turn:
    """Stop the turn, say what is expected, and ask the same once more; the turn as it ended."""
    name = room.draft.name(turn.agent)
    expected = answer_shape.in_words(turn.shape)
    kept = post.partial(room, turn, text)
    notice = post.notice(
        room,
        f"[{name}'s answer does not fit: {problem}. Expected is {expected}. {name} is asked once more.]",
        {"notice": "misfit"},
    )
    error = f"the answer does not fit: {problem}; expected is {expected}"
    ending = structs.replace(turn, interrupted=True, message=kept, error=error)
    stopped = seats.cancel(room, ending, RuleName.FORCE, by_holder=True)
    question = next(call for call in turn.calls if call.shape)
    again = structs.replace(
        question, seq=notice.seq, reason=RuleName.FORCE, by=SYSTEM, shape="", awaited=0.0, due=0.0
    )
    room.floor.hand_out(room, notice, Called(name, [again], {}, [stopped], None, 1))
    return stopped
