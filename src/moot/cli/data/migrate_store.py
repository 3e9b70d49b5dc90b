"""`moot migrate-store`: all that a home holds, copied into another store and compared; the old one stays as it is."""

import asyncio
import os
import re
import time

import click
from msgspec import to_builtins

from moot.cli.frame.hub_access import home_of, set_up_logs
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.cli.terminal.progress import InPlace
from moot.hub.archive.backups import nothing_runs
from moot.move_store import transfer_store
from moot.settings.catalogue import conceal
from moot.storage import Transferred

WIDTH = 24
EVERY_SECONDS = 0.1
VARIABLE = re.compile(r"\$\{(\w+)\}")


@leaf(
    "migrate-store",
    examples=("moot migrate-store postgresql://moot@db.example/moot", "moot migrate-store sqlite:moot.db"),
)
@click.argument("url")
@click.option("--unsafe", is_flag=True, help="Accept a server that may lose what it has acknowledged.")
def migrate_store(session: Session, url: str, unsafe: bool) -> None:
    """Move this home's data to PostgreSQL, or back.

    URL is postgresql://USER:PASSWORD@HOST:PORT/DATABASE, or sqlite:moot.db for a file in this home; ${NAME} is replaced
    from the environment. The new store must be empty. Everything is copied and compared, and every audit chain is
    verified. If it is interrupted, the same command continues. The old data is not changed; moot.toml is yours to edit.
    """
    set_up_logs(session)
    home = home_of(session)
    bar = TransferBar(session)
    started = time.monotonic()
    with nothing_runs(home, "a store is moved"):
        result = asyncio.run(transfer_store(home, _fill_in(url), bar.report, unsafe=unsafe))
    bar.clear()
    _tell(session, result, url, time.monotonic() - started)


def _fill_in(url: str) -> str:
    """Fill in variables as in moot.toml, so that a password need not be in the shell's history."""

    def value(match: re.Match[str]) -> str:
        text = os.environ.get(match[1])
        if text is None:
            raise click.UsageError(f"the environment does not set {match[1]}")
        return text

    return VARIABLE.sub(value, url)


def _tell(session: Session, result: Transferred, url: str, seconds: float) -> None:
    if session.json:
        session.screen.data({**to_builtins(result), "seconds": round(seconds, 1)})
        return
    say = session.screen.say
    say(
        f"✓ {result.target}   {result.messages} messages, {result.rows} rows, all chains verified, {seconds:.1f} s"
    )
    if result.resumed:
        say(f"  {result.resumed} rows had arrived before; continued behind them")
    say(f"  {result.origin} was not changed")
    say("To use it, set in moot.toml:")
    say("  [store]")
    say(f'  url = "{conceal(url)}"')


class TransferBar:
    """Progress: a bar on a terminal, nothing elsewhere."""

    def __init__(self, session: Session) -> None:
        self._line = InPlace(session.screen) if session.screen.moves and not session.json else None
        self._next = 0.0

    def report(self, what: str, done: int, total: int) -> None:
        now = time.monotonic()
        if self._line is None or (now < self._next and done < total):
            return
        self._next = now + EVERY_SECONDS
        full = WIDTH * done // max(total, 1)
        bar = "█" * full + "░" * (WIDTH - full)
        self._line.draw([f"{bar} {100 * done // max(total, 1):3d} %  {done:,} of {total:,} rows {what}"])

    def clear(self) -> None:
        if self._line is not None:
            self._line.clear()
