"""One run of a command: the global options, and the screen."""

from __future__ import annotations

import os
import sys
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from moot.cli.terminal.screen import Screen

if TYPE_CHECKING:
    from moot.cli.talk.no_wait import StoredPost
    from moot.errors import BadSettings


class Session:
    """Made before anything is parsed; global options are written into it wherever they are."""

    def __init__(self) -> None:
        self.home_option: str | None = None
        self.json = False
        self.fields: tuple[str, ...] = ()
        self.no_color = False
        self.debug = False
        self.quiet = False
        self.left = ""
        """What to say when the person interrupts: what became of the message."""
        self.broken_settings: BadSettings | None = None
        """What is wrong with moot.toml, where a running hub was asked because of it."""
        self.posted: StoredPost | None = None
        """The message of this command, where it is stored already and only to be told of."""

    @cached_property
    def screen(self) -> Screen:
        """Made on first use, when all options are read."""
        screen = Screen(json=self.json, quiet=self.quiet, no_color=self.no_color, environ=os.environ)
        screen.fields = self.fields
        screen.home = self.home_option or ""
        return screen

    @property
    def is_terminal(self) -> bool:
        return sys.stdin.isatty() and sys.stdout.isatty()

    def home_folder(self) -> Path:
        """Where the home is; light enough for the start text."""
        folder = self.home_option or os.environ.get("MOOT_HOME") or "~/.moot"
        return Path(os.path.expanduser(folder)).absolute()
