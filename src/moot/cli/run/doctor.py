"""`moot doctor`: one line per check, the worst first, each with its fix; --fix repairs what is safe."""

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
from moot.cli.run.doctor_line import BAD, OK, WARN, DoctorLine
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.screen import safe
from moot.errors import MootError
from moot.hub.archive import backups
from moot.model.json import JsonObject
from moot.settings import Home
from moot.wiring import storage

SIGNS: Final = {BAD: "✗", WARN: "!", OK: "✓"}


async def mcp(home: Home) -> list[DoctorLine]:
    from moot.cli.mcp.clients.doctor_lines import coding_clients  # noqa: PLC0415  only this topic needs it

    return await coding_clients(home)


async def cli(home: Home) -> list[DoctorLine]:
    from moot.cli.run.doctor_clis import coding_clis  # noqa: PLC0415  only this topic needs it

    return await coding_clis(home)


async def bridge(home: Home) -> list[DoctorLine]:
    from moot.cli.run.doctor_bridge import bridges  # noqa: PLC0415  only this topic needs it

    return await bridges(home)


TOPICS: Final[dict[str, Callable[[Home], Awaitable[list[DoctorLine]]]]] = {
    "db": database,
    "net": network,
    "mcp": mcp,
    "cli": cli,
    "bridge": bridge,
}
"""Topics that can be checked alone; net asks every provider with a key, mcp also starts a server."""


@leaf("doctor", examples=("moot doctor", "moot doctor net --json", "moot doctor --fix"))
@click.argument("topic", required=False, type=click.Choice(list(TOPICS)), metavar="[db|net|mcp|cli|bridge]")
@click.option("--fix", is_flag=True, help="Repair what is safe to repair; a backup is made first.")
def doctor(session: Session, topic: str | None, fix: bool) -> int:
    """Check the installation, and repair what is safe to repair.

    Looks at home, settings, agents' brains, processes and database, or at one topic. Providers that agents use are
    asked for their model lists, which uses no tokens; Telegram and Discord about their bots, where they are set up.

    db checks only the database.
    net checks the hub's port, and asks every provider whose key is set for its model list.
    mcp starts the server as coding CLIs do, and reports on each of them.
    cli checks the coding CLIs that agents are: version, flags, login, project.
    bridge checks the set-up of Telegram and Discord, and asks them about each bot.
    """
    set_up_logs(session)
    home = home_of(session)
    examine = TOPICS[topic] if topic is not None else everything
    checks = asyncio.run(_sort_lines(examine(home)))
    mended: list[DoctorLine] = []
    copy: Path | None = None
    if fix:
        mended = [check for check in checks if check.mend is not None]
        copy = _backup(session, home) if mended else None
        for check in mended:
            _mend(session, check)
        checks = asyncio.run(_sort_lines(examine(home)))
    _tell(session, checks, mended, copy, fix=fix)
    return FAILED if any(check.state == BAD for check in checks) else DONE


async def _sort_lines(examined: Awaitable[list[DoctorLine]]) -> list[DoctorLine]:
    """The worst first."""
    return sorted(await examined, key=lambda check: list(SIGNS).index(check.state))


def _backup(session: Session, home: Home) -> Path | None:
    """Back up before a repair; None if there is nothing to copy or copying fails: no repair touches the database."""
    if not storage(home).exists():
        return None
    try:
        return backups.create(home).path
    except MootError as error:
        session.screen.note(f"no backup was made: {error.title}")
        return None


def _mend(session: Session, check: DoctorLine) -> None:
    try:
        if check.mend is not None:
            check.mend()
    except OSError as error:
        session.screen.note(f"{check.text}: not repaired, {error.strerror}")


def _tell(
    session: Session, checks: list[DoctorLine], mended: list[DoctorLine], copy: Path | None, *, fix: bool
) -> None:
    bad = [check for check in checks if check.state == BAD]
    if session.json:
        report: JsonObject = {"ok": not bad, "checks": [check.to_dict() for check in checks]}
        if fix:
            repaired = [check.to_dict() for check in mended]
            report |= {"repaired": repaired, "backup": str(copy) if copy else None}
        session.screen.data(report)
        return
    say = session.screen.say
    if copy is not None:
        say(f"backup made: {tilde_path(copy)}")
    for check in mended:
        say(f"repaired: {safe(check.text)}")
    for check in checks:
        say(f"{SIGNS[check.state]} {check.check}: {safe(check.text)}")
        if check.fix:
            say(f"    fix   {session.screen.command(check.fix)}")
    say(f"{len(bad)} to fix." if bad else "All good." if checks[0].state == OK else "Nothing is broken.")
    if not fix and any(check.mend is not None for check in checks):
        say(
            f"Run {session.screen.command('moot doctor --fix')} to repair what is safe (a backup "
            "is made first)."
        )
