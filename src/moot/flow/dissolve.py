"""Dissolve a conversation: archive it, and let go of the chat elsewhere that it was bound to."""

from msgspec import Struct, structs

from moot.flow.steps import acts, channel, find, obligations
from moot.flow.steps.put_away import put_away
from moot.model.change import Decision
from moot.model.conversation import Conversation
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Dissolve(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    """Archived ones answer to their id only."""


def scope(command: Dissolve) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author,), records=(acts.HEAD,))


def decide(command: Dissolve, seen: Seen, at: Moment) -> Decision[Conversation]:
    found = find.conversation(seen, command.conversation)
    if found.archived and not found.channel_type:
        return Decision([], found)
    draft = Draft(seen, at)
    channel.keeps_its_channel(draft, found)
    room = draft.room(found)
    obligations.end_with_branch(room, command.author, "dissolved")
    if room.conversation.archived and not found.archived:
        return Decision(draft.changes(), room.conversation)
    unbound = structs.replace(found, channel_type="", channel_group_id="")
    dissolved = put_away(room, unbound, by=command.author)
    where, detail = f"conversation {found.id}", {"name": found.name, "dissolved": True}
    acts.enter(draft, AuditedAct.CONVERSATION_ARCHIVED, command.author, where, detail)
    return Decision(draft.changes(), dissolved)
