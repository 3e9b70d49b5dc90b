"""The members of conversations, cached for the fan: every event needs them, and few events change them.

A cached value was read after the last noted change. If a change is noted while a read is under way, the result of the
read is returned to its caller and not cached.
"""

from moot.doors.lookup import target_of
from moot.errors import NotFound
from moot.hub import Hub
from moot.rules.access import ConversationTarget

MAX_CACHED = 4096


class ConversationTargets:
    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._targets: dict[str, ConversationTarget] = {}
        self._reading: dict[str, object] = {}
        """The newest read of each place that is under way, as long as nothing has overtaken it."""

    async def of(self, conversation: str) -> ConversationTarget:
        """The members since the last noted change; nobody, if the conversation is gone."""
        target = self._targets.get(conversation)
        return target if target is not None else await self._read(conversation)

    async def _read(self, conversation: str) -> ConversationTarget:
        reading = self._reading[conversation] = object()
        try:
            target = target_of(await self._hub.conversations.get(conversation))
            if self._reading.get(conversation) is reading:
                self._keep(conversation, target)
            return target
        except NotFound:
            return ConversationTarget(conversation, frozenset())
        finally:
            if self._reading.get(conversation) is reading:
                del self._reading[conversation]

    def _keep(self, conversation: str, target: ConversationTarget) -> None:
        if len(self._targets) >= MAX_CACHED:
            del self._targets[next(iter(self._targets))]
        self._targets[conversation] = target

    def forget(self, conversation: str) -> None:
        """Somebody joined or left: drop what was read, and what is being read."""
        self._targets.pop(conversation, None)
        self._reading.pop(conversation, None)

    def forget_all(self) -> None:
        self._targets.clear()
        self._reading.clear()
