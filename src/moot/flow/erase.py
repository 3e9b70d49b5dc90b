"""Erase a conversation, with everything said in it."""

from msgspec import Struct

from moot.flow.steps import acts, channel, find, obligations
from moot.model.change import Decision, DropConversation
from moot.model.conversation import Conversation
from moot.model.event import EventType
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Erase(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    """Archived ones answer to their id only."""


def scope(command: Erase) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author,), records=(acts.HEAD,))


def decide(command: Erase, seen: Seen, at: Moment) -> Decision[Conversation]:
    found = find.conversation(seen, command.conversation)
    draft = Draft(seen, at)
    channel.keeps_its_channel(draft, found)
    room = draft.room(found)
    obligations.end_with_branch(room, command.author, "deleted")
    draft.add(DropConversation(found.id))
    gone = {"name": found.name, "messages": found.head, "length": found.chain_length, "head": found.chain}
    acts.enter(draft, AuditedAct.CONVERSATION_PURGED, command.author, f"conversation {found.id}", gone)
    draft.emit(EventType.CONVERSATION_DELETED, room, by=command.author, body={"name": found.name})
    return Decision(draft.changes(), found)
