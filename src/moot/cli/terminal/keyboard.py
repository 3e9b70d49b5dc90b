"""Lines that a person types, while others go on speaking; and lines that come through a pipe, one after the other."""

import asyncio
import contextlib
import os
import select
import signal
import sys
import termios
import threading
from collections.abc import AsyncIterator, Callable
from typing import Any, Final

from moot.cli.terminal.footer import Foot
from moot.cli.terminal.keystrokes import ESCAPE_SECONDS, PASTE_SECONDS, Key, Keystrokes
from moot.cli.terminal.line_editor import LineEditor
from moot.cli.terminal.screen import Screen, safe

CHUNK: Final = 1 << 16
MARK_PASTES: Final = "\x1b[?2004h"
MARK_NO_PASTES: Final = "\x1b[?2004l"
LOCAL, SPECIAL = 3, 6
"""Where termios keeps its local flags and its special characters."""


class Keyboard:
    """A terminal's keyboard: keys become a draft at the foot of the screen, Enter makes a line of it."""

    def __init__(self, screen: Screen) -> None:
        self.editor = LineEditor()
        self.when_interrupted: Callable[[], bool] = lambda: True
        """Ctrl+C where nothing is written: whether to leave."""
        self.was_interrupted = False
        """The person left by Ctrl+C."""
        self._screen = screen
        self._foot = Foot(self.editor, moves=not screen.plain, fit=screen.fit, colour=screen.colour)
        self._keys = Keystrokes()
        self._lines: asyncio.Queue[str | None] = asyncio.Queue()
        self._file = sys.stdin.fileno()
        self._before = termios.tcgetattr(self._file)
        self._warned = False
        self._silences: list[asyncio.TimerHandle] = []

    @contextlib.asynccontextmanager
    async def reading(self) -> AsyncIterator["Keyboard"]:
        """Read keys one by one during the block; afterwards the terminal is as it was, and no draft is lost."""
        loop = asyncio.get_running_loop()
        self._screen.foot = self._foot
        self._take_keys()
        loop.add_reader(self._file, self._readable)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        loop.add_signal_handler(signal.SIGWINCH, self._foot.on_resized)
        try:
            yield self
        finally:
            loop.remove_signal_handler(signal.SIGWINCH)
            loop.remove_signal_handler(signal.SIGTSTP)
            loop.remove_reader(self._file)
            for timer in self._silences:
                timer.cancel()
            self._after_silence(PASTE_SECONDS)
            self._foot.finish()
            self._give_keys_back()
            self._screen.foot = None
            self._keep_unsent()

    async def line(self, prompt: str) -> str | None:
        """The next line, or None when the person leaves."""
        self._foot.erase()
        self._foot.prompt = prompt
        self._foot.draw(at_once=True)
        return await self._lines.get()

    def _keep_unsent(self) -> None:
        """Keep the lines that were not taken, and the unfinished one."""
        lines: list[str] = []
        while not self._lines.empty():
            lines.append(self._lines.get_nowait() or "")
        unsent = "\n".join(line for line in (*lines, self.editor.text) if line.strip())
        if unsent:
            self._screen.give_back(unsent)

    def _take_keys(self) -> None:
        """No line editing and no echo by the terminal, and Ctrl+C as a key; Ctrl+Z and Ctrl+\\ stay what they are."""
        ours: list[Any] = termios.tcgetattr(self._file)
        ours[LOCAL] &= ~(termios.ICANON | termios.ECHO)
        ours[SPECIAL][termios.VINTR] = bytes([os.fpathconf(self._file, "PC_VDISABLE") & 0xFF])
        ours[SPECIAL][termios.VMIN], ours[SPECIAL][termios.VTIME] = 1, 0
        termios.tcsetattr(self._file, termios.TCSADRAIN, ours)
        self._mark(MARK_PASTES)

    def _give_keys_back(self) -> None:
        self._mark(MARK_NO_PASTES)
        with contextlib.suppress(termios.error):  # a terminal that is gone
            termios.tcsetattr(self._file, termios.TCSADRAIN, self._before)

    def _mark(self, sequence: str) -> None:
        if not self._screen.plain:
            with contextlib.suppress(OSError):
                self._screen.raw(sequence)

    def _suspend(self) -> None:
        """Ctrl+Z: the shell has the terminal until this process goes on, here."""
        loop = asyncio.get_running_loop()
        self._foot.erase()
        self._give_keys_back()
        loop.remove_signal_handler(signal.SIGTSTP)
        os.kill(os.getpid(), signal.SIGTSTP)
        loop.add_signal_handler(signal.SIGTSTP, self._suspend)
        self._take_keys()
        self._foot.draw(at_once=True)

    # --- keys ----------------------------------------------------------------------------------------------

    def _readable(self) -> None:
        try:
            data = os.read(self._file, CHUNK)
        except OSError:  # the terminal is gone
            data = b""
        if not data:
            asyncio.get_running_loop().remove_reader(self._file)
            self._lines.put_nowait(None)
            return
        more = bool(select.select([self._file], [], [], 0)[0])
        self._press_all(self._keys.of(data, more=more))
        self._listen_for_silence()

    def _press_all(self, keys: list[Key]) -> None:
        for key in keys:
            self._press(key)

    def _listen_for_silence(self) -> None:
        """Give up waiting for the rest of a sequence when nothing comes for a while."""
        for timer in self._silences:
            timer.cancel()
        later = asyncio.get_running_loop().call_later
        self._silences = [
            later(seconds, self._after_silence, seconds) for seconds in (ESCAPE_SECONDS, PASTE_SECONDS)
        ]

    def _after_silence(self, seconds: float) -> None:
        self._press_all(self._keys.after_silence(seconds))

    def _press(self, key: Key) -> None:
        warned, self._warned = self._warned, False
        match key.name:
            case "text":
                self.editor.insert(key.text)
            case "enter":
                self._enter()
                return
            case "interrupt":
                self._interrupt(again=warned)
                return
            case "end of input" if not self.editor.text:
                self._lines.put_nowait(None)
                return
            case "end of input":
                self.editor.delete()
            case "redraw":
                pass
            case other:
                if not self.editor.press(other):
                    return
        self._foot.on_draft_changed()

    def _enter(self) -> None:
        text = self.editor.sent()
        self._foot.on_entered(safe(text))
        self._lines.put_nowait(text)

    def _interrupt(self, *, again: bool) -> None:
        """Never discard a draft: the first press says that it is kept, the second leaves and shows it."""
        if again or (not self.editor.text.strip() and self.when_interrupted()):
            self.was_interrupted = True
            self._lines.put_nowait(None)
            return
        self._warned = True
        if self.editor.text.strip():
            self._screen.note("your draft is kept: Enter sends it, Ctrl+U clears it, Ctrl+C again leaves")


async def piped_line() -> str | None:
    """The next line of a pipe or a file; None at its end. A thread waits for it, so that leaving does not have to."""
    loop = asyncio.get_running_loop()
    answer: asyncio.Future[str | None] = loop.create_future()

    def settle(line: str | None) -> None:
        if not answer.done():
            answer.set_result(line)

    def read() -> None:
        try:
            line = sys.stdin.readline() or None
        except (OSError, ValueError):
            line = None
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody waits any more
            loop.call_soon_threadsafe(settle, line.removesuffix("\n") if line else None)

    threading.Thread(target=read, name="moot-pipe", daemon=True).start()
    return await answer
