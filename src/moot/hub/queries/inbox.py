"""What waits for a participant: what others said in its conversations, and how far it has read there."""

from moot import shapes
from moot.hub.core import Core
from moot.model.ids import ParticipantId
from moot.ports import Page

MAX_UNREAD = 500


async def inbox(
    core: Core, participant_id: ParticipantId, *, unread: bool, limit: int
) -> list[shapes.Received]:
    """Oldest first. Unread is what lies behind the cursor: an agent's turns move its own, a person's reading theirs."""
    received: list[shapes.Received] = []
    for conversation in await core.parts.store.conversations(archived=False, kind=None):
        members = {member.participant: member for member in await core.parts.store.members(conversation.id)}
        mine = members.get(participant_id)
        if mine is None or not conversation.head or (unread and mine.cursor >= conversation.head):
            continue
        page = Page(after=mine.cursor, limit=MAX_UNREAD) if unread else Page(limit=limit + 1, newest=True)
        received += [
            shapes.Received(shapes.Message.of(message, core.directory.name), unread=message.seq > mine.cursor)
            for message in await core.parts.store.messages(conversation.id, page)
            if message.is_for(participant_id)
        ]
    received.sort(key=lambda each: (each.message.at or "", each.message.conversation, each.message.seq))
    return received[-limit:]
