"""Long answers on a terminal go through a pager: MOOT_PAGER, else PAGER, else less; `cat` turns it off."""

import os
import shutil
from collections.abc import Mapping

OFF = ("", "cat")


def pager_of(environ: Mapping[str, str]) -> list[str]:
    """The command; empty if none is wanted."""
    command = environ.get("MOOT_PAGER", environ.get("PAGER", "less"))
    if command.strip() in OFF or environ.get("TERM") == "dumb" or environ.get("MOOT_SCREEN_READER"):
        return []
    words = command.split()
    return words if shutil.which(words[0]) else []


def is_long(text: str) -> bool:
    """Whether it is more than one screen: lines that wrap count as often as they are drawn."""
    size = shutil.get_terminal_size()
    line_count = sum(1 + len(line) // size.columns for line in text.splitlines())
    return line_count >= size.lines


def show(text: str, pager: list[str]) -> bool:
    """Whether the pager took it. A reader who leaves early has seen enough."""
    import subprocess  # noqa: PLC0415  most answers are short, and every command would wait for it

    environ = {"LESS": "FRX", **os.environ}
    try:
        subprocess.run(pager, input=text.encode(errors="backslashreplace"), env=environ, check=False)
    except OSError:
        return False
    return True
