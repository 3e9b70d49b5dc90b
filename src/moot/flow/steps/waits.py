"""Who waits for whom no longer: a wait ends with its question, whatever ended that.

Above: obligations.py when a turn has ended, put_away.py when a conversation is closed, give_up.py. Not here: who begins
to wait (obligations.py), rings of those who do (rules/rings.py).
"""

from moot.model.records.wait import WAITS
from moot.model.turn import Call
from moot.rules.room import Room


def waited_for(room: Room, question: Call) -> None:
    """Nobody waits for the answer to this question any more."""
    if question.awaited and not question.human:
        room.draft.drop(WAITS, room.id, question.seq)
