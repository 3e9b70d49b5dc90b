"""Bookmarks: a client comes, and goes on where it was; from time to time it is noted how far it has read.

Told to nobody. A participant has so many of them and no more: for a new one, the one longest unused goes.
"""

from msgspec import Struct, structs

from moot.flow.steps import look
from moot.model.bookmark import Bookmark
from moot.model.change import Change, Decision, DropBookmark, PutBookmark
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Seen

MOST_BOOKMARKS = 1000
"""Of one participant, over all conversations."""


class Open(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: ConversationId
    client: str
    after: int | None = None
    """Where a new client begins; at the newest message where it does not say."""


class Opened(Struct, frozen=True, gc=False):
    bookmark: Bookmark
    known: bool


class Opening:
    def scope(self, command: Open) -> Scope:
        return Scope(conversations=(command.conversation,), bookmarks_of=command.author)

    def decide(self, command: Open, seen: Seen, at: Moment) -> Decision[Opened]:
        where = look.conversation(seen, command.conversation)
        known = seen.bookmark((command.author, command.client, where.id))
        if known is not None:
            used = structs.replace(known, used_at=at.now)
            return Decision([PutBookmark(used)], Opened(used, known=True))
        begin = where.head if command.after is None else min(command.after, where.head)
        made = Bookmark(command.author, command.client, where.id, begin, used_at=at.now)
        changes: list[Change] = [DropBookmark(old.key) for old in _too_many(seen, command.author)]
        return Decision([*changes, PutBookmark(made)], Opened(made, known=False))


def _too_many(seen: Seen, who: ParticipantId) -> list[Bookmark]:
    """Those that must go before there is room for one more."""
    kept = sorted(seen.bookmarks_of(who), key=lambda mark: (mark.used_at, mark.key))
    return kept[: max(0, len(kept) + 1 - MOST_BOOKMARKS)]


class Move(Struct, frozen=True, gc=False):
    """What many clients have read since they were last noted."""

    bookmarks: tuple[Bookmark, ...]


class Moving:
    """A bookmark that is gone meanwhile, with its conversation or for a newer one, does not come back."""

    def scope(self, command: Move) -> Scope:
        return Scope(bookmarks=tuple(mark.key for mark in command.bookmarks))

    def decide(self, command: Move, seen: Seen, at: Moment) -> Decision[None]:
        known = [mark for mark in command.bookmarks if seen.bookmark(mark.key) is not None]
        return Decision([PutBookmark(structs.replace(mark, used_at=at.now)) for mark in known], None)


opening = Opening()
moving = Moving()
