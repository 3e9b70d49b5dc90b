"""Move bookmarks: from time to time it is noted how far clients have read. Told to nobody.

A bookmark that is gone meanwhile, with its conversation or for a newer one, does not come back.
"""

from msgspec import Struct, structs

from moot.model.bookmark import Bookmark
from moot.model.change import Decision, PutBookmark
from moot.model.moment import Moment
from moot.ports import Scope
from moot.rules.draft import Seen


class MoveBookmarks(Struct, frozen=True, gc=False):
    """What many clients have read since they were last noted."""

    bookmarks: tuple[Bookmark, ...]


def scope(command: MoveBookmarks) -> Scope:
    return Scope(bookmarks=tuple(mark.key for mark in command.bookmarks))


def decide(command: MoveBookmarks, seen: Seen, at: Moment) -> Decision[None]:
    known = [mark for mark in command.bookmarks if seen.bookmark(mark.key) is not None]
    return Decision([PutBookmark(structs.replace(mark, used_at=at.now)) for mark in known], None)
