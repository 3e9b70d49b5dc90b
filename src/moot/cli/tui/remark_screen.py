"""A screen for the sentences of the command line while the chat has the whole terminal: each becomes a remark.

Above: chat_room.py. Below: cli/terminal/screen.py, whose sentences are the same everywhere.
"""

import os
from collections.abc import Callable

from moot.cli.terminal.screen import Screen, safe


class RemarkScreen(Screen):
    def __init__(self, say: Callable[[str], None], *, home: str = "") -> None:
        super().__init__(json=False, quiet=False, no_color=True, environ=os.environ)
        self.home = home
        self._say = say

    def note(self, text: str) -> None:
        self._say(text)

    def give_back(self, text: str) -> None:
        self._say(f"not sent:\n{safe(text)}")

    def _write(self, text: str) -> None:
        self._say(text.rstrip("\n"))
