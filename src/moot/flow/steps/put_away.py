"""Putting a conversation away: what archive.py and dissolve.py share. Open turns end and queued rounds are dropped."""

from msgspec import structs

from moot.flow.steps import answers
from moot.model.conversation import Conversation
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.round import RoundState
from moot.model.turn import RuleName
from moot.rules.floor import seats
from moot.rules.room import Room


def put_away(room: Room, archived: Conversation, *, by: ParticipantId) -> Conversation:
    """End what is open here; `archived` is the conversation as it shall be kept."""
    for turn in [*room.turns.values(), *room.asks.all()]:
        ended = seats.cancel(room, turn, RuleName.DELETED)
        if ended.question is not None:
            answers.question_closed(room, ended, ended.question)
    for round_ in list(room.rounds.values()):
        room.put_round(structs.replace(round_, state=RoundState.CLOSED, pending=(), blocked=()))
    room.put_conversation(
        structs.replace(archived, archived=True, updated_at=room.now, stalled=0, blocked=())
    )
    room.draft.emit(EventType.CONVERSATION_ARCHIVED, room, by=by)
    return room.conversation
