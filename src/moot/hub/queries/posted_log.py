"""Who posted in a conversation, when and through which door, as the audit says it: never what was said."""

from typing import Final

from moot import shapes
from moot.hub.core import Core
from moot.model.entrance import DOOR, SPOKEN_BY, DoorName
from moot.model.message import Message
from moot.model.participant import Kind
from moot.model.records.audit import ACTS, AUDIT_ENTRIES, AuditQuery
from moot.ports import Page

POSTED: Final = "message.posted"
UNKNOWN: Final = "unknown"
"""The door of messages from before there was an audit."""


async def posted_entries(core: Core, conversation: str, query: AuditQuery) -> list[shapes.AuditEntry]:
    where = await core.directory.conversation(conversation)
    page = Page(limit=query.limit, newest=True)
    messages = await core.parts.store.messages(where.id, page)
    began = await core.parts.store.records(AUDIT_ENTRIES.one(ACTS, 1))
    since = began[0].at if began else 0.0
    return [
        _entry(core, message, _door(message, since))
        for message in reversed(messages)
        if message.at >= query.since
        and (not query.before or message.at < query.before)
        and (not query.agent or query.agent in (message.author, message.metadata.get(SPOKEN_BY)))
    ]


def _door(message: Message, since: float) -> str:
    if DOOR in message.metadata:
        return str(message.metadata[DOOR])
    if message.kind in (Kind.SYSTEM, Kind.TOOL):
        return DoorName.HUB.value
    return DoorName.SDK.value if message.at >= since else UNKNOWN


def _entry(core: Core, message: Message, door: str) -> shapes.AuditEntry:
    names = core.directory.name
    author, owner = names(message.author), message.metadata.get(SPOKEN_BY)
    by = names(owner) if owner else author
    sender = f"{by} for {author}" if owner else author
    at = shapes.when(message.at)
    return shapes.AuditEntry(
        chain=f"conversation:{message.conversation}",
        place=message.chain_place,
        at=at,
        by=by,
        on_behalf_of=author if owner else None,
        door=door,
        act=POSTED,
        subject=f"message {message.id}",
        detail={},
        count=1,
        last_at=at,
        sentence=f"{sender} posted {message.id} by {door}",
        hash=message.hash,
    )
