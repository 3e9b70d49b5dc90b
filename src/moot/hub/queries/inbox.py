"""What waits for a participant: what others said in its conversations, and how far it has read there."""

from moot import shapes
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.model.message import Message
from moot.model.participant import Kind
from moot.ports import Page

NOT_FOR_READING = frozenset({Kind.SYSTEM, Kind.TOOL})
MAX_UNREAD = 500


async def inbox(core: Core, who: ParticipantId, *, unread: bool, limit: int) -> list[shapes.Received]:
    """Oldest first. Unread is what lies behind the cursor: an agent's turns move its own, a person's reading theirs."""
    found: list[shapes.Received] = []
    for conversation in await core.parts.store.conversations(archived=False, kind=None):
        members = {member.participant: member for member in await core.parts.store.members(conversation.id)}
        mine = members.get(who)
        if mine is None or not conversation.head or (unread and mine.cursor >= conversation.head):
            continue
        page = Page(after=mine.cursor, limit=MAX_UNREAD) if unread else Page(limit=limit + 1, newest=True)
        found += [
            shapes.Received(shapes.Message.of(message, core.directory.name), unread=message.seq > mine.cursor)
            for message in await core.parts.store.messages(conversation.id, page)
            if is_for(who, message)
        ]
    found.sort(key=lambda each: (each.message.at or "", each.message.conversation, each.message.seq))
    return found[-limit:]


def is_for(who: ParticipantId, message: Message) -> bool:
    """Said by somebody else, to be read by people and agents; and how a task ended, which the hub says."""
    if message.author == who or message.metadata.get("deleted"):
        return False
    return message.kind not in NOT_FOR_READING or (message.kind is Kind.SYSTEM and "task" in message.metadata)
