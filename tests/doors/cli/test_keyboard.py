"""Keys in time: what comes at once belongs together, and what is still incomplete after a silence stays alone."""

import asyncio
import os
import pty
import select
from collections.abc import Iterator

import pytest

from moot.cli.terminal.keyboard import Keyboard
from moot.cli.terminal.keystrokes import ESCAPE_SECONDS
from moot.cli.terminal.screen import Screen
from tests.support.waiting import PATIENCE

ESC = b"\x1b"


class Typist:
    """Two ends of a pseudo-terminal, and the time that its reader's event loop believes in."""

    def __init__(self, ours: int, theirs: int, patch: pytest.MonkeyPatch) -> None:
        self._ours, self._theirs = ours, theirs
        self._now = 0.0
        patch.setattr(asyncio.get_running_loop(), "time", lambda: self._now)

    async def press(self, keys: bytes) -> None:
        """Until they were read."""
        os.write(self._ours, keys)
        assert self._is_unread(PATIENCE), "the terminal does not hand over what was typed"
        while self._is_unread(0):  # noqa: ASYNC110 - nobody tells that it was read
            await asyncio.sleep(0)

    def _is_unread(self, seconds: float) -> bool:
        return bool(select.select([self._theirs], [], [], seconds)[0])

    async def wait(self, seconds: float) -> None:
        self._now += seconds
        await asyncio.sleep(0)


@pytest.fixture
def ends(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    ours, theirs = pty.openpty()
    with open(theirs, encoding="utf-8") as stdin:
        monkeypatch.setattr("sys.stdin", stdin)
        yield ours, theirs
    os.close(ours)


@pytest.mark.parametrize(("silence", "line"), [(ESCAPE_SECONDS, "Oh"), (0.0, "")])
async def test_an_esc_swallows_no_letter(
    ends: tuple[int, int], monkeypatch: pytest.MonkeyPatch, silence: float, line: str
) -> None:
    """Esc, O and a letter are one key where they come at once; after a silence they are what they say."""
    screen = Screen(json=False, quiet=False, no_color=True, environ={})
    typist = Typist(*ends, monkeypatch)
    async with Keyboard(screen).reading() as keyboard:
        await typist.press(ESC)
        await typist.wait(silence)
        await typist.press(b"Oh\n")
        assert await keyboard.line("you ▸ ") == line
