"""Continue: a person lets a stopped round or chain go on. Counters start again, once."""

from msgspec import Struct

from moot.errors import NotPermitted
from moot.flow import post
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class GoOn(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str


def scope(command: GoOn) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author,), records=(acts.HEAD,))


def decide(command: GoOn, seen: Seen, at: Moment) -> Decision[bool]:
    """Answers whether anything was waiting to go on."""
    draft = Draft(seen, at)
    room = find.open_room(draft, command.conversation)
    if draft.participant(command.author).kind is not Kind.HUMAN:
        raise NotPermitted("only a person can resume a stopped conversation")
    moved = room.floor.go_on(room)
    if moved:
        where, detail = f"conversation {room.id}", {"name": room.conversation.name}
        acts.enter(draft, AuditedAct.CONVERSATION_CONTINUED, command.author, where, detail)
        draft.emit(EventType.BRAKE_RELEASED, room, by=command.author, body={"conversation": room.id})
    post.move_on(room)
    return Decision(draft.changes(), moved)
