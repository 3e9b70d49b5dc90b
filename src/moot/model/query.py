"""What somebody looks for in what was said. All parts must hold; inside one part, any of its values will do."""

from enum import StrEnum

from msgspec import Struct

from moot.model.conversation import ConversationKind
from moot.model.ids import ConversationId, ParticipantId
from moot.model.participant import Kind


class Has(StrEnum):
    """What a message can hold besides words."""

    LINK = "link"
    CODE = "code"
    MENTION = "mention"
    REPLY = "reply"


class Mark(StrEnum):
    """What can have become of a message."""

    EDITED = "edited"
    DELETED = "deleted"
    PARTIAL = "partial"


class Query(Struct, frozen=True):
    """Without any part it is everything that was not deleted."""

    terms: tuple[str, ...] = ()
    """Words, and phrases of several words: a message holds them all."""
    authors: tuple[ParticipantId, ...] = ()
    addressed: tuple[ParticipantId, ...] = ()
    """Mentioned, or the other one in a conversation of two."""
    places: tuple[ConversationId, ...] = ()
    kinds: tuple[Kind, ...] = ()
    """Of messages."""
    rooms: tuple[ConversationKind, ...] = ()
    """Kinds of conversations."""
    has: tuple[Has, ...] = ()
    """All of them."""
    marks: tuple[Mark, ...] = ()
    """All of them. Deleted messages are found only where they are asked for."""
    after: float | None = None
    """This moment or later."""
    before: float | None = None
    """Earlier than this moment."""
    reader: ParticipantId | None = None
    """Only conversations this one is a member of."""
