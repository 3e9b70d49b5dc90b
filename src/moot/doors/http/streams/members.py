"""Who belongs where, kept for the fan: asked for with every event, and changed by few.

What is kept was read after the last change that was noted. A change that is noted while a read is under way overtakes
it: what the read brings is good for whoever asked, and is not kept.
"""

from moot.doors.lookup import target_of
from moot.errors import NotFound
from moot.hub import Hub
from moot.rules.access import ConversationTarget

MAX_KEPT = 4096


class ConversationTargets:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._kept: dict[str, ConversationTarget] = {}
        self._reading: dict[str, object] = {}
        """The newest read of each place that is under way, as long as nothing has overtaken it."""

    async def of(self, conversation: str) -> ConversationTarget:
        """As it is now, or was at the last change that was noted; nobody's where it is gone."""
        known = self._kept.get(conversation)
        return known if known is not None else await self._read(conversation)

    async def _read(self, conversation: str) -> ConversationTarget:
        reading = self._reading[conversation] = object()
        try:
            found = target_of(await self._hub.conversations.get(conversation))
            if self._reading.get(conversation) is reading:
                self._keep(conversation, found)
            return found
        except NotFound:
            return ConversationTarget(conversation, frozenset())
        finally:
            if self._reading.get(conversation) is reading:
                del self._reading[conversation]

    def _keep(self, conversation: str, found: ConversationTarget) -> None:
        if len(self._kept) >= MAX_KEPT:
            del self._kept[next(iter(self._kept))]
        self._kept[conversation] = found

    def changed(self, conversation: str) -> None:
        """Somebody came or went: what was read before is worth nothing, nor what is being read."""
        self._kept.pop(conversation, None)
        self._reading.pop(conversation, None)

    def all_changed(self) -> None:
        self._kept.clear()
        self._reading.clear()
