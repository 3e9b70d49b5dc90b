"""End an import: the conversation is whole, and is opened or left archived as it was."""

from msgspec import Struct, structs

from moot.errors import Conflict
from moot.flow.steps import acts, find
from moot.model.change import AddSummary, Decision
from moot.model.conversation import Conversation
from moot.model.event import EventType
from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import Summary
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class EndImport(Struct, frozen=True, gc=False):
    """It is whole: open it, or leave it archived as it was."""

    author: ParticipantId
    conversation: ConversationId
    name: str
    updated_at: float
    archived: bool = False
    summaries: tuple[Summary, ...] = ()
    """With the origin's `upto` and times; the rest is filled in here."""


def scope(command: EndImport) -> Scope:
    return Scope(
        conversations=(command.conversation,),
        refs=(command.name,),
        names=(command.author,),
        records=(acts.HEAD,),
    )


def decide(command: EndImport, seen: Seen, at: Moment) -> Decision[Conversation]:
    found = find.imported(seen, command.conversation)
    holder = seen.find(command.name)
    if not command.archived and holder is not None:
        raise Conflict(f'a conversation called "{command.name}" already exists', conversation=holder.id)
    draft = Draft(seen, at)
    room = draft.room(found)
    for member in list(room.members.values()):
        room.put_member(structs.replace(member, cursor=found.head))
    new = [summary for summary in command.summaries if summary.upto > found.summarised]
    for number, summary in enumerate(new, found.epoch + 1):
        draft.add(AddSummary(structs.replace(summary, conversation=found.id, epoch=number)))
    room.put_conversation(
        structs.replace(
            found,
            name=command.name,
            updated_at=command.updated_at,
            archived=command.archived,
            epoch=found.epoch + len(new),
            summarised=new[-1].upto if new else found.summarised,
        )
    )
    detail = {"name": command.name, "messages": found.head}
    acts.enter(draft, AuditedAct.CONVERSATION_IMPORTED, command.author, f"conversation {found.id}", detail)
    if not command.archived:
        draft.emit(EventType.CONVERSATION_UNARCHIVED, room, by=command.author)
    return Decision(draft.changes(), room.conversation)
