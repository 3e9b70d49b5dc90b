"""Mark: a person has read a conversation so far. Only their own cursor moves, and only forward."""

from msgspec import Struct, structs

from moot.flow.steps import find
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class MarkRead(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    seq: int


def scope(command: MarkRead) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author,))


def decide(command: MarkRead, seen: Seen, at: Moment) -> Decision[int]:
    draft = Draft(seen, at)
    room = draft.room(find.conversation(seen, command.conversation))
    member = room.members.get(command.author)
    if member is None or member.speaks:  # an agent's cursor follows its turns alone
        return Decision([], 0)
    reached = min(command.seq, room.conversation.head)
    if reached <= member.cursor:
        return Decision([], member.cursor)
    room.put_member(structs.replace(member, cursor=reached))
    return Decision(draft.changes(), reached)
