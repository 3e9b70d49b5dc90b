"""Addresses of messages and numbers of turns, as callers write them."""

from moot.errors import BadValue, NotFound
from moot.hub.core import Core
from moot.model.ids import ConversationId, parse_address
from moot.model.message import Message

LONGEST_NUMBER = 18
"""Digits that surely fit the store."""


def is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def located(id: str) -> tuple[ConversationId, int]:
    """The parts of a message's id."""
    try:
        where, seq = parse_address(id)
        return where, min(seq, 10**LONGEST_NUMBER)
    except ValueError as problem:
        raise BadValue(str(problem)) from problem


async def message_at(core: Core, id: str) -> Message:
    found = await core.parts.store.message(*located(id))
    if found is None:
        raise NotFound(f"there is no message {id}", what="message", ref=id)
    return found


async def replied(core: Core, conversation: str, reply_to: str | int | None) -> int:
    """The seq that a message answers: one of its own conversation, whichever way that is written."""
    if not isinstance(reply_to, str):
        return reply_to or 0
    where, seq = located(reply_to)
    if where != conversation:
        here = await core.directory.conversation(conversation)
        if where not in (here.id, here.name):
            title = f"there is no message {reply_to} in {here.name} to reply to"
            raise NotFound(title, what="message", ref=reply_to)
    return seq
