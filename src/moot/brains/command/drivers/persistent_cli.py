"""A CLI that keeps running between prompts, whatever its protocol: its process, the events of a prompt, and interrupts.

Above: claude.py, codex.py, acp.py, which read its lines. Below: cli_process.py.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Final, TypeVar

from moot.brains.command.driver import (
    CliDied,
    CliEvent,
    CliSetup,
    PromptEnded,
    SessionLost,
    TextDelta,
    ToolBegan,
    ToolEnded,
)
from moot.brains.command.program.cli_process import CliProcess
from moot.brains.command.program.keeper import cannot_start
from moot.brains.command.program.line_peer import RpcError

T = TypeVar("T")

MAX_WAITING_EVENTS: Final = 1024
"""Events that the turn has not read yet. A CLI that sends more has to wait."""
MAX_COMPLAINT_CHARACTERS: Final = 300
"""How much of a CLI's error output people are shown."""


class PersistentCli:
    def __init__(self, name: str) -> None:
        self.name = name
        self.process: CliProcess | None = None
        self.is_prompted = False
        self.interrupted = False
        self.events: deque[CliEvent | None] = deque()
        """In order; None when its process has ended."""
        self._output_ended = False
        self._parse_error = ""
        self._open_tools: set[str] = set()
        self._has_events = asyncio.Event()
        self._has_room = asyncio.Event()

    # --- its process -----------------------------------------------------------------------------------------

    async def start(
        self,
        words: list[str],
        setup: CliSetup,
        environ: Mapping[str, str] | None = None,
        visible: tuple[Path, ...] = (),
    ) -> CliProcess:
        """`visible` are paths that it has to see if it is in a sandbox."""
        self.process = await CliProcess.start(
            await asyncio.to_thread(setup.wrap, words, visible),  # it may ask git
            cwd=setup.project,
            environ={**setup.environ, **(environ or {})},
            run_folder=setup.run_folder,
        )
        return self.process

    @property
    def alive(self) -> bool:
        """It runs, and its output can be read."""
        return self.process is not None and self.process.alive and not self._output_ended

    @property
    def last_words(self) -> str:
        return self.process.last_words[-MAX_COMPLAINT_CHARACTERS:] if self.process is not None else ""

    async def end(self) -> None:
        if self.process is not None:
            await self.process.end()

    async def finish_opening(
        self, opening: Awaitable[T], resume: str | None, is_unknown: Callable[[Exception], bool]
    ) -> T:
        """Wait until it has a session. If that fails, the CLI is ended. Raises SessionLost if `is_unknown` says that
        the session to be resumed is not known, else CliDied with the reason."""
        try:
            return await opening
        except RpcError as refusal:
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

    def report(self, event: CliEvent) -> None:
        if self.interrupted and isinstance(event, TextDelta):
            return  # nobody reads it any more, and the end of the prompt comes after it
        if isinstance(event, ToolBegan):
            self._open_tools.add(event.id)
        elif isinstance(event, ToolEnded):
            self._open_tools.discard(event.id)
        self.events.append(event)
        self._has_events.set()

    def end_output(self, why: str = "") -> None:
        """Its pipe has closed, or its output cannot be read, for the reason `why`."""
        self._output_ended = True
        self._parse_error = self._parse_error or why
        self.events.append(None)
        self._has_events.set()

    async def wait_for_room(self) -> None:
        """The reader of the pipe waits here, so that a flood stays in the pipe. After an interrupt it reads on, up to
        the end of the prompt."""
        while len(self.events) >= MAX_WAITING_EVENTS and not self.interrupted:
            self._has_room.clear()
            await self._has_room.wait()

    async def prompt(self, send: Callable[[], Awaitable[None]]) -> AsyncIterator[CliEvent]:
        """Send a prompt, and yield its events up to its end. Raises CliDied if the process ends first."""
        self.events.clear()
        self._open_tools.clear()
        self._has_room.set()
        self.interrupted, self.is_prompted = False, True
        try:
            await send()
            while True:
                event = await self._next()
                if event is None:
                    raise self._ended_early()
                if isinstance(event, PromptEnded) and self.interrupted and self._open_tools:
                    await (
                        self.end()
                    )  # it has stopped, and what it had started goes on: codex leaves commands running
                yield event
                if isinstance(event, PromptEnded):
                    return
        finally:
            self.is_prompted = False

    def _ended_early(self) -> CliDied:
        if self._parse_error:
            return CliDied(f"{self.name} said something that Moot does not understand: {self._parse_error}")
        return CliDied(f"{self.name} ended in the middle of its answer: {self.last_words}".rstrip(": "))

    async def _next(self) -> CliEvent | None:
        while not self.events:
            self._has_events.clear()
            await self._has_events.wait()
        event = self.events.popleft()
        self._has_room.set()
        return event

    # --- interrupting it -------------------------------------------------------------------------------------

    async def interrupt(self, ask: Callable[[], Awaitable[object]]) -> None:
        """Ask it to stop, in its own protocol; a process that does not answer is ended. If its prompt has just ended,
        nothing is sent: a late interrupt would hit the next prompt."""
        if not self.is_prompted or not self.alive:
            return
        self.interrupted = True
        self._has_room.set()
        try:
            await ask()
        except CliDied:
            await self.end()
