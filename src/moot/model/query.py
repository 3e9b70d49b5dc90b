"""What somebody looks for in what was said. All parts must hold; inside one part, any of its values will do."""

from collections.abc import Iterable
from enum import StrEnum
from typing import Protocol, TypeVar

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


class Dated(Protocol):
    """A record that has an id, and was made once."""

    @property
    def id(self) -> str: ...
    @property
    def created_at(self) -> float: ...


D = TypeVar("D", bound=Dated)


def newest_before(records: Iterable[D], older_than: Dated | None, limit: int) -> list[D]:
    """A page of a long list: the newest of those that are older than one of them, oldest first."""
    ordered = sorted(records, key=lambda one: (one.created_at, one.id))
    if older_than is not None:
        place = (older_than.created_at, older_than.id)
        ordered = [one for one in ordered if (one.created_at, one.id) < place]
    return ordered[-limit:] if limit > 0 else []
