"""Continue: a person lets a stopped round or chain go on. Counters start again, once."""

from msgspec import Struct, structs

from moot.errors import NotPermitted
from moot.flow import post
from moot.flow.steps import look
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.participant import Kind
from moot.ports import Scope
from moot.rules import brakes
from moot.rules.draft import Draft, Room, Seen
from moot.rules.floor import direct, group


class GoOn(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str


def scope(command: GoOn) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author,))


def decide(command: GoOn, seen: Seen, at: Moment) -> Decision[bool]:
    """Answers whether anything was waiting to go on."""
    draft = Draft(seen, at)
    room = look.open_room(draft, command.conversation)
    if draft.participant(command.author).kind is not Kind.HUMAN:
        raise NotPermitted("only a person can let a stopped conversation go on")
    moved = group.go_on(room) if room.conversation.takes_rounds else _direct(room)
    if moved:
        draft.emit("brake.released", room, by=command.author, body={"conversation": room.id})
    post.move_on(room)
    return Decision(draft.changes(), moved)


def _direct(room: Room) -> bool:
    blocked = room.conversation.blocked
    calls = [call for call in blocked if call.seq > room.members[call.agent].cursor]
    if not calls:
        return False
    for call in calls:
        root = room.draft.root(call.root)
        if root is not None:
            room.draft.put_root(brakes.continued(root, room.id, call.hop))
    room.put_conversation(structs.replace(room.conversation, blocked=()))
    direct.deliver(room, calls, "an agent")
    return True
