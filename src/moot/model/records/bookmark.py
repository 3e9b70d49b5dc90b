"""How far somebody has read who keeps nothing itself: a client in a conversation, a supervisor in the log."""

from typing import TypeAlias

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId
from moot.model.records.record import Table

BookmarkKey: TypeAlias = tuple[ParticipantId, str, ConversationId]


class Bookmark(Struct, frozen=True, gc=False):
    """All messages up to `seq` have surely arrived there."""

    participant: ParticipantId
    client: str
    """The name a client gave itself: one reader of this participant, on one device."""
    conversation: ConversationId
    seq: int
    frames: int = 0
    """How many messages were handed to it before this place, since it first came."""
    used_at: float = 0.0

    @property
    def key(self) -> BookmarkKey:
        return self.participant, self.client, self.conversation


BOOKMARKS = Table(
    "bookmarks",
    Bookmark,
    key=("participant", "client", "conversation"),
    by=("participant",),
    ends_with_conversation=True,
)


class WatchPosition(Struct, frozen=True, gc=False):
    """How far a supervisor has been shown the log: it goes on from there, wherever it is run next."""

    agent: ParticipantId
    event: int
    """The newest event that it was shown, or that does not concern it."""
    at: float


WATCH_POSITIONS = Table("watch_positions", WatchPosition, key=("agent",), all_at_once=True, in_micros=("at",))
