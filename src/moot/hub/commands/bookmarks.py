"""`hub.conversations.bookmarks`: where a client of this participant continues to read. For doors that push messages."""

from collections.abc import Sequence

from moot.flow import move_bookmarks, open_bookmark
from moot.flow.open_bookmark import OpenedBookmark
from moot.hub.core import Core
from moot.model.ids import ConversationId, ParticipantId
from moot.model.records.bookmark import Bookmark


class Bookmarks:
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    async def open(self, conversation: str, client: str, *, after: int | None = None) -> OpenedBookmark:
        """A client's bookmark; a new client's is made, at the newest message or after the one it names."""
        command = open_bookmark.OpenBookmark(self._me, ConversationId(conversation), client, after)
        opened: OpenedBookmark = await self._core.do(open_bookmark, command)
        return opened

    async def move(self, bookmarks: Sequence[Bookmark]) -> None:
        """Note how far clients have read, for any participants, all at once. Bookmarks that are gone stay gone."""
        await self._core.do(move_bookmarks, move_bookmarks.MoveBookmarks(tuple(bookmarks)))
