"""`--watch`: the same answer again whenever it has changed, until interrupted.

On a terminal it is drawn in place; elsewhere each answer follows the last, and with --json is one line.
"""

import shutil
import time
from collections.abc import Callable
from functools import partial
from itertools import accumulate
from typing import Final, TypeVar

import click

from moot.cli.frame.session import Session

T = TypeVar("T")
LOOK_SECONDS: Final = 1.0
FROM_THE_TOP: Final = "\x1b[H\x1b[J"
AFRESH: Final = "\x1b[2J"


def watch(
    session: Session, look: Callable[[], T], tell: Callable[[T], None], data: Callable[[T], object]
) -> None:
    """`look` asks, `tell` says it, `data` is what --json gives of it."""
    screen = session.screen
    before: list[object] = []
    while True:
        found = look()
        page = screen.said_in(partial(tell, found)) if screen.redraws else ""
        now: list[object] = [page or found]
        if now != before:
            if session.json:
                screen.data(data(found))
            elif screen.redraws:
                screen.raw(_fitted(page, first=not before))
            else:
                tell(found)
                screen.say()
        before = now
        time.sleep(LOOK_SECONDS)


def _fitted(text: str, *, first: bool) -> str:
    """As much as fits; what does not is counted. Lines that wrap count as often as they are drawn."""
    size = shutil.get_terminal_size()
    lines = text.splitlines()
    ends = list(accumulate(1 + len(click.unstyle(line)) // size.columns for line in lines))
    if ends and ends[-1] >= size.lines:
        kept = sum(end < size.lines - 1 for end in ends)
        lines = [*lines[:kept], f"… {len(lines) - kept} more lines"]
    return (AFRESH if first else "") + FROM_THE_TOP + "\n".join(lines) + "\n"
