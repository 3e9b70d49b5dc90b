"""Open a bookmark: a client connects and resumes where it was. It makes no event.

A participant has a limited number of bookmarks: for a new one, the one that was unused for longest goes.
"""

from msgspec import Struct, structs

from moot.flow.steps import find
from moot.model.change import Change, Decision, DropRecord, PutRecord
from moot.model.ids import ConversationId, ParticipantId
from moot.model.moment import Moment
from moot.model.records.bookmark import BOOKMARKS, Bookmark
from moot.ports import Scope
from moot.rules.draft import Seen

MAX_BOOKMARKS = 1000
"""Of one participant, over all conversations."""


class OpenBookmark(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: ConversationId
    client: str
    after: int | None = None
    """Where a new client begins; at the newest message where it does not say."""


class OpenedBookmark(Struct, frozen=True, gc=False):
    bookmark: Bookmark
    known: bool


def scope(command: OpenBookmark) -> Scope:
    return Scope(
        conversations=(command.conversation,), records=(BOOKMARKS.where(participant=command.author),)
    )


def decide(command: OpenBookmark, seen: Seen, at: Moment) -> Decision[OpenedBookmark]:
    where = find.conversation(seen, command.conversation)
    bookmark = seen.record(BOOKMARKS, command.author, command.client, where.id)
    if bookmark is not None:
        used = structs.replace(bookmark, used_at=at.now)
        return Decision([PutRecord(BOOKMARKS, used)], OpenedBookmark(used, known=True))
    begin = where.head if command.after is None else min(command.after, where.head)
    made = Bookmark(command.author, command.client, where.id, begin, used_at=at.now)
    changes: list[Change] = [DropRecord(BOOKMARKS, old.key) for old in _too_many(seen, command.author)]
    return Decision([*changes, PutRecord(BOOKMARKS, made)], OpenedBookmark(made, known=False))


def _too_many(seen: Seen, participant_id: ParticipantId) -> list[Bookmark]:
    """Bookmarks to remove before there is room for one more."""
    kept = sorted(
        seen.records(BOOKMARKS.where(participant=participant_id)), key=lambda mark: (mark.used_at, mark.key)
    )
    return kept[: max(0, len(kept) + 1 - MAX_BOOKMARKS)]
