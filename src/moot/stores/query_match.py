"""What a query means for one message, read plainly. The indexes of real stores must agree with it.

Used by the store in memory; the contract suite holds the others against it.
"""

from collections.abc import Collection
from unicodedata import category, normalize

from moot.model.conversation import ConversationKind
from moot.model.ids import ParticipantId
from moot.model.message import Message
from moot.model.query import Has, Mark, Query

PAIRS = (ConversationKind.DIRECT, ConversationKind.LINK, ConversationKind.EPHEMERAL)
"""Conversations in which whoever speaks addresses the other."""


def matches(
    query: Query, message: Message, kind: ConversationKind | None, members: Collection[ParticipantId]
) -> bool:
    """`kind` and `members` are those of the message's conversation."""
    return (
        (query.reader is None or query.reader in members)
        and (not query.authors or message.author in query.authors)
        and (not query.addressed or any(_addresses(message, one, kind, members) for one in query.addressed))
        and (not query.places or message.conversation in query.places)
        and (not query.kinds or message.kind in query.kinds)
        and (not query.rooms or kind in query.rooms)
        and all(holds(message, has) for has in query.has)
        and all(marked(message, mark) for mark in query.marks)
        and (Mark.DELETED in query.marks or not marked(message, Mark.DELETED))
        and (query.after is None or message.at >= query.after)
        and (query.before is None or message.at < query.before)
        and says(message.text, query.terms)
    )


def _addresses(
    message: Message, one: ParticipantId, kind: ConversationKind | None, members: Collection[ParticipantId]
) -> bool:
    return one in message.mentions or (kind in PAIRS and one in members and message.author != one)


def holds(message: Message, has: Has) -> bool:
    match has:
        case Has.LINK:
            return "http://" in message.text or "https://" in message.text
        case Has.CODE:
            return message.text.count("`") > 1 or "~~~" in message.text
        case Has.MENTION:
            return bool(message.mentions)
        case Has.REPLY:
            return message.reply_to > 0


def marked(message: Message, mark: Mark) -> bool:
    match mark:
        case Mark.EDITED:
            return message.version > 1 and message.text != ""
        case Mark.DELETED:
            return message.version > 1 and message.text == ""
        case Mark.PARTIAL:
            return message.metadata.get("partial") is True


def says(text: str, terms: tuple[str, ...]) -> bool:
    """All terms, each with its words one behind the other. A term without a letter asks for nothing."""
    wanted = [found for term in terms if (found := words(term))]
    if not wanted:
        return not terms
    spoken = words(text)
    return all(_stands_in(spoken, each) for each in wanted)


def words(text: str) -> list[str]:
    """Letters and digits, without case and accents."""
    plain = normalize("NFD", text.lower())
    kept = "".join(
        letter if category(letter)[0] in "LN" else "" if category(letter)[0] == "M" else " "
        for letter in plain
    )
    return kept.split()


def _stands_in(spoken: list[str], phrase: list[str]) -> bool:
    size = len(phrase)
    return any(spoken[n : n + size] == phrase for n in range(len(spoken) - size + 1))
