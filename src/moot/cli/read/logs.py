"""`moot logs`, and how any log file is shown: its last lines, and what comes to it."""

import time
from pathlib import Path
from typing import Final, TextIO

import click

from moot.cli.frame.hub_access import home_of
from moot.cli.frame.params import AT_LEAST_1, leaf
from moot.cli.frame.session import Session
from moot.cli.terminal.screen import safe
from moot.errors import NotFound
from moot.hub.process.hub_lock import running_hub
from moot.settings import Home

SHOWN_LINES: Final = 40
LOOK_SECONDS: Final = 0.2


@leaf("logs", examples=("moot logs", "moot logs -f"))
@click.option("-f", "--follow", is_flag=True, help="Follow until interrupted.")
@click.option(
    "--lines", type=AT_LEAST_1, default=SHOWN_LINES, metavar="N", help="Number of lines (default 40)."
)
def logs(session: Session, follow: bool, lines: int) -> None:
    """Show the hub's log; for a daemon's, use moot agents logs NAME."""
    home = home_of(session)
    path = home.logs / "hub.log"
    if not path.exists():
        raise _no_log(home)
    show(session, path, lines, follow=follow)


def _no_log(home: Home) -> NotFound:
    hub = running_hub(home)
    if hub is not None:
        title = f"the hub (pid {hub['pid']}) logs to the terminal it was started in"
        return NotFound(title, fix=("moot stop", "moot up --detach"), ref="hub.log")
    return NotFound(
        "the hub has no log: it has never run in the background", fix=("moot up --detach",), ref="hub.log"
    )


def show(session: Session, path: Path, lines: int, *, follow: bool) -> None:
    """Show the last lines, through the pager if they are many; with `follow`, every new line too."""
    screen = session.screen
    with path.open(encoding="utf-8", errors="replace") as file:
        last = file.read().splitlines()[-lines:]
        if session.json and not follow:
            screen.data({"path": str(path), "lines": last})
            return
        if follow:
            _tell(session, last)
            _follow(session, path, file)
            return
        with screen.paged():
            _tell(session, last)
        if not last:
            screen.note(f"{path} is empty: nothing has gone wrong so far")


def _tell(session: Session, lines: list[str]) -> None:
    for line in lines:
        if session.json:
            session.screen.data({"line": line})
        else:
            session.screen.say(safe(line))


def _follow(session: Session, path: Path, file: TextIO) -> None:
    """Follow until interrupted. A file that was emptied or rotated is read from its new beginning."""
    rest = ""
    while True:
        *whole, rest = (rest + file.read()).split("\n")
        _tell(session, whole)
        if path.exists() and path.stat().st_size < file.tell():
            file.seek(0)
            rest = ""
        time.sleep(LOOK_SECONDS)
