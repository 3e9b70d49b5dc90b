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
    """`look` reads the answer, `tell` prints it, `data` is its form for --json."""
    screen = session.screen
    before: list[object] = []
    while True:
        answer = look()
        page = screen.said_in(partial(tell, answer)) if screen.redraws else ""
        now: list[object] = [page or answer]
        if now != before:
            if session.json:
                screen.data(data(answer))
            elif screen.redraws:
                screen.raw(_fit_screen(page, first=not before))
            else:
                tell(answer)
                screen.say()
        before = now
        time.sleep(LOOK_SECONDS)


def _fit_screen(text: str, *, first: bool) -> str:
    """As many lines as fit, and the number of the others. A wrapped line counts as several."""
    size = shutil.get_terminal_size()
    lines = text.splitlines()
    ends = list(accumulate(1 + len(click.unstyle(line)) // size.columns for line in lines))
    if ends and ends[-1] >= size.lines:
        shown_count = sum(end < size.lines - 1 for end in ends)
        lines = [*lines[:shown_count], f"… {len(lines) - shown_count} more lines"]
    return (AFRESH if first else "") + FROM_THE_TOP + "\n".join(lines) + "\n"
