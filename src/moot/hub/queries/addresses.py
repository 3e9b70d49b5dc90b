"""Addresses of messages and numbers of turns, as callers write them."""

from moot.errors import BadValue, NotFound
from moot.hub.core import Core
from moot.model.ids import ConversationId, parse_address
from moot.model.message import Message

MAX_DIGITS = 18
"""Digits that surely fit the store."""


def is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= MAX_DIGITS


def located(id: str) -> tuple[ConversationId, int]:
    """The parts of a message's id."""
    try:
        where, seq = parse_address(id)
        return where, min(seq, 10**MAX_DIGITS)
    except ValueError as problem:
        raise BadValue(str(problem)) from problem


async def message_at(core: Core, id: str) -> Message:
    message = await core.parts.store.message(*located(id))
    if message is None:
        raise NotFound(f"there is no message {id}", what="message", ref=id)
    return message


def replied(reply_to: str | int | None) -> tuple[str, int]:
    """The message that another answers: in which conversation, if that is said, and its seq. Whether it is the same
    conversation, the decision says: only there it is clear that the caller may know of it."""
    return located(reply_to) if isinstance(reply_to, str) else ("", reply_to or 0)
