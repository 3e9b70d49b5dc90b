"""Move bookmarks: from time to time it is noted how far clients have read. Told to nobody.

A bookmark that is gone meanwhile, with its conversation or for a newer one, does not come back.
"""

from msgspec import Struct, structs

from moot.model.change import Decision, PutRecord
from moot.model.moment import Moment
from moot.model.records.bookmark import BOOKMARKS, Bookmark
from moot.ports import Scope
from moot.rules.draft import Seen


class MoveBookmarks(Struct, frozen=True, gc=False):
    """What many clients have read since they were last noted."""

    bookmarks: tuple[Bookmark, ...]


def scope(command: MoveBookmarks) -> Scope:
    return Scope(records=tuple(BOOKMARKS.one(*mark.key) for mark in command.bookmarks))


def decide(command: MoveBookmarks, seen: Seen, at: Moment) -> Decision[None]:
    bookmarks = [mark for mark in command.bookmarks if seen.record(BOOKMARKS, *mark.key) is not None]
    return Decision([PutRecord(BOOKMARKS, structs.replace(mark, used_at=at.now)) for mark in bookmarks], None)
