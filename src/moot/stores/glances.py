"""What lists show of each conversation, put together from two reads that every engine has."""

from collections.abc import Iterable

from msgspec import json

from moot.model.message import ConversationGlance, Message

_decoder = json.Decoder(list[tuple[str, int]])


def beside(newest: Iterable[Message], unread: str | None) -> list[ConversationGlance]:
    """Each newest message with how much is unread there, which came as [[conversation, count], …]."""
    counts = dict(_decoder.decode(unread)) if unread else {}
    return [ConversationGlance(one.conversation, one, counts.get(one.conversation, 0)) for one in newest]
