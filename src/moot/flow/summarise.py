"""Summarise: a summary node begins the next epoch of a conversation. It has no seq and wakes nobody.

Optimistic: whoever made it says which epoch it saw, and comes too late if another summary was stored meanwhile.
"""

from msgspec import Struct, structs

from moot.errors import BadText, BadValue, Conflict
from moot.flow.steps import find
from moot.model.change import AddSummary, Decision
from moot.model.event import EventType
from moot.model.ids import ConversationId
from moot.model.json import JsonObject
from moot.model.message import Summary
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class Summarise(Struct, frozen=True, gc=False):
    conversation: ConversationId
    epoch: int
    """The epoch it was made in."""
    upto: int
    text: str
    by: str
    usage: JsonObject | None = None


def scope(command: Summarise) -> Scope:
    return Scope(conversations=(command.conversation,))


def decide(command: Summarise, seen: Seen, at: Moment) -> Decision[Summary]:
    conversation = find.conversation(seen, command.conversation)
    if conversation.epoch != command.epoch:
        raise Conflict(
            f"{conversation.name} has been summarised in the meantime", current_version=conversation.epoch
        )
    if not conversation.summarised < command.upto <= conversation.head:
        raise BadValue(
            f"a summary up to #{command.upto} does not fit {conversation.name}",
            detail=f"expected a number between {conversation.summarised + 1} and {conversation.head}",
        )
    if not command.text.strip():
        raise BadText("a summary needs a text")
    draft = Draft(seen, at)
    room = draft.room(conversation)
    summary = Summary(
        conversation=conversation.id,
        epoch=conversation.epoch + 1,
        upto=command.upto,
        text=command.text.strip(),
        by=command.by,
        at=at.now,
        usage=command.usage,
    )
    room.put_conversation(structs.replace(conversation, epoch=summary.epoch, summarised=summary.upto))
    draft.add(AddSummary(summary))
    body = {"id": summary.id, "epoch": summary.epoch, "upto": summary.upto, "by": summary.by}
    body["context"] = summary.context
    draft.emit(EventType.CONVERSATION_SUMMARISED, room, body=body)
    return Decision(draft.changes(), summary)
