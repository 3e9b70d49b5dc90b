"""`hub.history`: what has happened, as doors tell it."""

from collections.abc import Sequence

from moot.hub.commands.tokens import acted
from moot.hub.core import Core
from moot.hub.queries.event_stream import MAX_PAGE, Past, past
from moot.sdk.call import in_process


class History:
    def __init__(self, core: Core) -> None:
        self._core = core

    @in_process("doors start streams with it; callers use `events(after=…)`")
    async def past(self, after: int, *, types: Sequence[str] = (), limit: int = MAX_PAGE) -> Past:
        """What has happened after an event, a page of it."""
        return await past(self._core, after, types, limit)

    @in_process("doors start streams with it")
    async def horizon(self) -> int:
        """A reader positioned before this event cannot continue without a gap."""
        return await self._core.parts.store.horizon()

    @in_process("doors start streams with it")
    async def catch_up(self) -> None:
        """Take in what other processes have stored by now."""
        await self._core.parts.log.catch_up()

    @in_process("doors record audited acts with it")
    async def acted_as(self, name: str, what: str) -> None:
        """Keep in the audit that the owner did this in another's name."""
        await acted(self._core, (await self._core.directory.participant(name)).id, what)
