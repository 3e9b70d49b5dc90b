"""A CLI that stays between prompts, as the driver of any protocol knows it: its process, what it says until a prompt
has come to its end, and whether somebody interrupts it.

Above: claude.py, codex.py, acp.py, which know what its lines mean. Below: cli_process.py.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from moot.brains.command.driver import (
    CliDied,
    CliPlace,
    Ended,
    Happened,
    SessionLost,
    Spoke,
    ToolBegan,
    ToolEnded,
)
from moot.brains.command.program.cli_process import CliProcess
from moot.brains.command.program.keeper import cannot_start
from moot.brains.command.program.line_peer import RpcRefusal

T = TypeVar("T")

MAX_WAITING: Final = 1024
"""What a CLI has said and the turn has not read yet. A CLI that says more has to wait."""
MAX_COMPLAINT_CHARACTERS: Final = 300
"""Characters of what a CLI complained about that people are told."""


class SpokenCli:
    def __init__(self, name: str) -> None:
        self.name = name
        self.process: CliProcess | None = None
        self.is_prompted = False
        self.interrupted = False
        self.waiting: deque[Happened | None] = deque()
        """What it said, in order; None where its process has ended."""
        self._is_over = False
        self._not_understood = ""
        self._open_tools: set[str] = set()
        self._more = asyncio.Event()
        self._less = asyncio.Event()

    # --- its process -----------------------------------------------------------------------------------------

    async def start(
        self,
        words: list[str],
        place: CliPlace,
        environ: Mapping[str, str] | None = None,
        visible: tuple[Path, ...] = (),
    ) -> CliProcess:
        """`visible` is what it has to see where it is in a sandbox."""
        self.process = await CliProcess.start(
            await asyncio.to_thread(place.wrap, words, visible),  # it may ask git
            cwd=place.project,
            environ={**place.environ, **(environ or {})},
            run_folder=place.run_folder,
        )
        return self.process

    @property
    def alive(self) -> bool:
        """It runs, and what it says is heard."""
        return self.process is not None and self.process.alive and not self._is_over

    @property
    def last_words(self) -> str:
        return self.process.last_words[-MAX_COMPLAINT_CHARACTERS:] if self.process is not None else ""

    async def end(self) -> None:
        if self.process is not None:
            await self.process.end()

    async def finish_opening(
        self, opening: Awaitable[T], resume: str | None, is_unknown: Callable[[Exception], bool]
    ) -> T:
        """Wait until it has a session. Where that fails it is ended, and the error says what it complained about, or
        that it does not know the session to be resumed, which `is_unknown` tells."""
        try:
            return await opening
        except RpcRefusal as refusal:
            await self.end()
            reason: Exception = refusal
            error = CliDied(f"{self.name} refused to open a session: {refusal}")
        except CliDied as died:
            reason = error = await self._not_opened(died)
        if resume and is_unknown(reason):
            raise SessionLost(f"{self.name} does not know the session any more") from None
        raise error from None

    async def _not_opened(self, died: CliDied) -> CliDied:
        was_alive = self.alive
        await self.end()
        complaint = self.last_words.removeprefix(cannot_start(self.name))
        reason = complaint or (died.notice if was_alive else "it ended without a word")
        return CliDied(f"{self.name} could not be started: {reason}")

    # --- what it says ----------------------------------------------------------------------------------------

    def report(self, happened: Happened) -> None:
        if self.interrupted and isinstance(happened, Spoke):
            return  # it is not read any more, and the end of the prompt comes behind it
        if isinstance(happened, ToolBegan):
            self._open_tools.add(happened.id)
        elif isinstance(happened, ToolEnded):
            self._open_tools.discard(happened.id)
        self.waiting.append(happened)
        self._more.set()

    def end_output(self, why: str = "") -> None:
        """Its pipe has closed, or what comes out of it cannot be read, for the reason `why`."""
        self._is_over = True
        self._not_understood = self._not_understood or why
        self.waiting.append(None)
        self._more.set()

    async def wait_for_room(self) -> None:
        """The reader of the pipe waits here, so that a flood stays in it. Not after an interrupt: then the end is
        waited for."""
        while len(self.waiting) >= MAX_WAITING and not self.interrupted:
            self._less.clear()
            await self._less.wait()

    async def prompt(self, send: Callable[[], Awaitable[None]]) -> AsyncIterator[Happened]:
        """Send a prompt, and everything that happens until its end. Raises CliDied where the process ends first."""
        self.waiting.clear()
        self._open_tools.clear()
        self._less.set()
        self.interrupted, self.is_prompted = False, True
        try:
            await send()
            while True:
                happened = await self._next()
                if happened is None:
                    raise self._ended_early()
                if isinstance(happened, Ended) and self.interrupted and self._open_tools:
                    await (
                        self.end()
                    )  # it has stopped, and what it had started goes on: codex leaves commands running
                yield happened
                if isinstance(happened, Ended):
                    return
        finally:
            self.is_prompted = False

    def _ended_early(self) -> CliDied:
        if self._not_understood:
            return CliDied(
                f"{self.name} said something that Moot does not understand: {self._not_understood}"
            )
        return CliDied(f"{self.name} ended in the middle of its answer: {self.last_words}".rstrip(": "))

    async def _next(self) -> Happened | None:
        while not self.waiting:
            self._more.clear()
            await self._more.wait()
        happened = self.waiting.popleft()
        self._less.set()
        return happened

    # --- interrupting it -------------------------------------------------------------------------------------

    async def interrupt(self, ask: Callable[[], Awaitable[object]]) -> None:
        """Have it stop, as its protocol asks for that; a process that does not answer is ended. One that has just ended
        its prompt is left alone: a late interrupt would hit the next."""
        if not self.is_prompted or not self.alive:
            return
        self.interrupted = True
        self._less.set()
        try:
            await ask()
        except CliDied:
            await self.end()
