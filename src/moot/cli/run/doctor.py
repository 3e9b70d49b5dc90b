"""`moot doctor`: one line per check, the worst first, each with what mends it; --fix mends what is safe."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Final

import click

from moot.cli.frame.exit_codes import FAILED
from moot.cli.frame.exit_codes import OK as DONE
from moot.cli.frame.hub_access import home_of, set_up_logs
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.cli.run.doctor_checks import database, everything, network
from moot.cli.run.doctor_line import BAD, OK, WARN, Check
from moot.cli.run.welcome import shown
from moot.cli.terminal.screen import safe
from moot.errors import MootError
from moot.hub.archive import backups
from moot.model.json import JsonObject
from moot.peek import is_there
from moot.settings import Home

SIGNS: Final = {BAD: "✗", WARN: "!", OK: "✓"}


async def mcp(home: Home) -> list[Check]:
    from moot.cli.mcp.clients.doctor_lines import coding_clients  # noqa: PLC0415  only this topic needs it

    return await coding_clients(home)


TOPICS: Final[dict[str, Callable[[Home], Awaitable[list[Check]]]]] = {
    "db": database,
    "net": network,
    "mcp": mcp,
}
"""What can be looked at alone; net asks every provider that could be asked, mcp also starts a server."""


@leaf("doctor", examples=("moot doctor", "moot doctor net --json", "moot doctor --fix"))
@click.argument("topic", required=False, type=click.Choice(list(TOPICS)), metavar="[db|net|mcp]")
@click.option("--fix", is_flag=True, help="Repair what is safe to repair; a backup is made first.")
def doctor(session: Session, topic: str | None, fix: bool) -> int:
    """Check that all is well, and repair what is safe: home, settings, what agents think with, what runs, the database;
    or one topic. The providers that agents think with are asked for their models, which costs nothing.

    db looks at the database alone.
    net looks at the hub's port, and asks every provider whose key is set for its list of models.
    mcp starts the server as coding CLIs do, and says how each of them stands.
    """
    set_up_logs(session)
    home = home_of(session)
    examine = TOPICS[topic] if topic is not None else everything
    checks = asyncio.run(_sorted(examine(home)))
    mended: list[Check] = []
    copy: Path | None = None
    if fix:
        mended = [check for check in checks if check.mend is not None]
        copy = _backup(session, home) if mended else None
        for check in mended:
            _mend(session, check)
        checks = asyncio.run(_sorted(examine(home)))
    _tell(session, checks, mended, copy, fix=fix)
    return FAILED if any(check.state == BAD for check in checks) else DONE


async def _sorted(examined: Awaitable[list[Check]]) -> list[Check]:
    """The worst first."""
    return sorted(await examined, key=lambda check: list(SIGNS).index(check.state))


def _backup(session: Session, home: Home) -> Path | None:
    """None where there is nothing to copy, or it cannot be copied: no repair touches the database."""
    if not is_there(home.path):
        return None
    try:
        return backups.create(home).path
    except MootError as error:
        session.screen.note(f"no backup was made: {error.title}")
        return None


def _mend(session: Session, check: Check) -> None:
    try:
        if check.mend is not None:
            check.mend()
    except OSError as error:
        session.screen.note(f"{check.text}: not repaired, {error.strerror}")


def _tell(
    session: Session, checks: list[Check], mended: list[Check], copy: Path | None, *, fix: bool
) -> None:
    bad = [check for check in checks if check.state == BAD]
    if session.json:
        told: JsonObject = {"ok": not bad, "checks": [check.to_dict() for check in checks]}
        if fix:
            repaired = [check.to_dict() for check in mended]
            told |= {"repaired": repaired, "backup": str(copy) if copy else None}
        session.screen.data(told)
        return
    say = session.screen.say
    if copy is not None:
        say(f"backup made: {shown(copy)}")
    for check in mended:
        say(f"repaired: {safe(check.text)}")
    for check in checks:
        say(f"{SIGNS[check.state]} {check.check}: {safe(check.text)}")
        if check.fix:
            say(f"    fix   {session.screen.command(check.fix)}")
    say(f"{len(bad)} to fix." if bad else "All good." if checks[0].state == OK else "Nothing is broken.")
    if not fix and any(check.mend is not None for check in checks):
        say(
            f"{session.screen.command('moot doctor --fix')} repairs what is safe to repair (a backup is made first)."
        )
