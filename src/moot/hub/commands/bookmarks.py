"""`hub.conversations.bookmarks`: where a client of this participant goes on reading. For doors that push."""

from collections.abc import Sequence

from moot.flow.bookmarks import Move, Open, Opened, moving, opening
from moot.hub.core import Core
from moot.model.bookmark import Bookmark
from moot.model.ids import ConversationId, ParticipantId


class Bookmarks:
    def __init__(self, core: Core, me: ParticipantId) -> None:
        self._core = core
        self._me = me

    async def open(self, conversation: str, client: str, *, after: int | None = None) -> Opened:
        """A client's bookmark; a new client's is made, at the newest message or after the one it names."""
        command = Open(self._me, ConversationId(conversation), client, after)
        found: Opened = await self._core.do(opening, command)
        return found

    async def move(self, bookmarks: Sequence[Bookmark]) -> None:
        """Note how far clients have read, anybody's and all at once. Those that are gone stay gone."""
        await self._core.do(moving, Move(tuple(bookmarks)))
