"""Leave: a member goes. Its open turns are cancelled, slots come back, and the floor moves on."""

from msgspec import Struct

from moot.errors import NotFound
from moot.flow import post
from moot.flow.steps import acts, channel, find, obligations
from moot.model.change import Decision
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Leave(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    name: str


def scope(command: Leave) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author, command.name), records=(acts.HEAD,))


def decide(command: Leave, seen: Seen, at: Moment) -> Decision[None]:
    draft = Draft(seen, at)
    room = find.open_room(draft, command.conversation)
    participant = find.participant(seen, command.name)
    if participant.id not in room.members:
        raise NotFound(f"{participant.name} is not in {room.conversation.name}", ref=participant.name)
    channel.keeps_its_channel(draft, room.conversation)
    room.floor.see_off(room, participant.id)
    room.drop_member(participant.id)
    room.floor.left(room)
    post.notice(room, f"[{participant.name} left]", {"notice": "left", "participant": participant.id})
    where, detail = f"conversation {room.id}", {"name": room.conversation.name, "participant": participant.id}
    acts.enter(draft, AuditedAct.CONVERSATION_LEFT, command.author, where, detail)
    draft.emit(EventType.CONVERSATION_LEFT, room, by=participant.id)
    obligations.move_on(room)
    return Decision(draft.changes(), None)
