"""Unarchive a conversation: bring it back, if nobody else has its name by now."""

from msgspec import Struct, structs

from moot.errors import Conflict
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.conversation import Conversation, ConversationKind
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Unarchive(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    """Archived ones answer to their id only."""
    name: str = ""
    """The name the conversation has, to see whether it is still free."""


def scope(command: Unarchive) -> Scope:
    return Scope(refs=(command.conversation, command.name), names=(command.author,), records=(acts.HEAD,))


def decide(command: Unarchive, seen: Seen, at: Moment) -> Decision[Conversation]:
    found = find.conversation(seen, command.conversation)
    if not found.archived:
        return Decision([], found)
    if (holder := seen.find(found.name)) is not None and holder.id != found.id:
        if not find.knows_of(seen, command.author, holder, at):
            raise find.name_taken(found.name)
        raise Conflict(
            f'another conversation is now called "{found.name}"',
            fix=(Hint(Act.RENAME_CONVERSATION, conversation=holder.id),),
            conversation=holder.id,
        )
    if found.kind is ConversationKind.LINK:
        raise Conflict(
            f"the link that {found.name} belonged to was deleted", fix=("link the two agents again",)
        )
    draft = Draft(seen, at)
    room = draft.room(found)
    room.put_conversation(structs.replace(found, archived=False, updated_at=at.now, stalled=0, blocked=()))
    where = f"conversation {found.id}"
    acts.enter(draft, AuditedAct.CONVERSATION_UNARCHIVED, command.author, where, {"name": found.name})
    draft.emit(EventType.CONVERSATION_UNARCHIVED, room, by=command.author)
    return Decision(draft.changes(), room.conversation)
