"""A hub for looking only: the same read methods, no writer, no host, and no home made where there is none."""

from collections.abc import Set

from moot.context.prompt import Context
from moot.context.templates import Templates
from moot.hub.core import Core
from moot.model.ids import TurnId
from moot.settings import Home
from moot.wiring import assemble_to_read


class ReadingCore(Core):
    """What reading needs of a core. Whatever would write is refused by its store."""

    def __init__(self, home: Home) -> None:
        super().__init__(home, None, socket=None)

    async def open_to_read(self) -> bool:
        """False where a writer must come first, to bring the database up to date."""
        parts = await assemble_to_read(self._home)
        if parts is None:
            return False
        self.parts = parts
        enrolled = await self._enrol(())
        self.user = enrolled[parts.settings.hub.user].id
        self.context = Context(
            parts.store,
            Templates(self._home.path / "templates"),
            workspaces=self._home.path / "agents",
            known=self.known,
            secret=await parts.store.secret(),
        )
        return True

    def speaking_now(self) -> Set[TurnId]:
        return frozenset()

    async def close(self, drain: float = 0.0) -> None:
        await self.parts.log.close()
        await self.parts.store.close()
