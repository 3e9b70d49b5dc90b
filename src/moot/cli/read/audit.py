"""`moot audit`: what was done and what was refused, and whether any of it was altered."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import click

from moot import shapes
from moot.cli.frame.exit_codes import FAILED
from moot.cli.frame.hub_access import with_reading
from moot.cli.frame.params import Branch
from moot.cli.frame.session import Session

if TYPE_CHECKING:
    from moot.hub import Hub


@click.group(
    "audit",
    cls=Branch,
    examples=("moot audit log", "moot audit verify"),
    short_help="See who did what, and verify that nothing was altered.",
)
def audit() -> None:
    """See who did what, and verify that nothing was altered."""


@audit.command(
    "log",
    examples=(
        "moot audit log",
        "moot audit log --agent arya --since 2h",
        "moot audit log --act refused --json",
    ),
)
@click.option("--agent", metavar="NAME", help="Only what it did, and what was done to it.")
@click.option("--link", metavar="ID", help="Only what was done to this link.")
@click.option(
    "--conv", "conversation", metavar="NAME", help="Who posted in this conversation, and through which door."
)
@click.option(
    "--act", "acts", multiple=True, metavar="ACT", help="Only this act, such as link.created or refused."
)
@click.option(
    "--since", metavar="WHEN", help="Not before this: a date, a time, or how long ago (30m, 2h, 7d)."
)
@click.option(
    "--limit", type=click.IntRange(1, 1000), default=50, help="Maximum number of entries (default 50)."
)
@click.pass_obj
def log(session: Session, /, limit: int, **filters: Any) -> None:
    """What was done, by whom and through which door, newest first.

    Refusals of the same kind in a row are one entry with their number.
    """
    entries = with_reading(session, lambda hub: hub.audit.log(limit=limit, **filters))
    if session.json:
        session.screen.data([entry.to_dict() for entry in entries])
    elif not entries:
        session.screen.note("nothing on record")
    for entry in () if session.json else entries:
        session.screen.say(f"{(entry.last_at or '')[:19].replace('T', ' ')}  {entry.sentence}")


@audit.command("verify", examples=("moot audit verify", "moot audit verify --json"))
@click.pass_obj
def verify(session: Session) -> None:
    """Prove that nothing was altered or removed; exit code 1 if something was.

    Every chain is walked: messages, edits, notes, links, tasks, acts and refusals. Then it is compared with
    audit/heads.jsonl, where a running hub writes down each minute how far each chain has come.
    """
    shows = session.screen.moves and not session.json

    def progress(messages: int) -> None:
        if shows:
            sys.stderr.write(f"\r{messages} messages …")
            sys.stderr.flush()

    async def walked(hub: Hub) -> shapes.AuditReport:
        if session.broken_settings is not None:  # then the running hub verifies
            return await hub.audit.verify()
        return await hub.audit.verified(progress)

    report = with_reading(session, walked)
    if shows:
        sys.stderr.write("\r\033[K")
    if session.json:
        session.screen.data(report.to_dict())
    else:
        _tell(session, report)
    if not report.ok:
        sys.exit(FAILED)


def _tell(session: Session, report: shapes.AuditReport) -> None:
    for purge in report.purged:
        session.screen.say(f"· {purge.what} ({purge.name}) was erased by {purge.by}, {purge.entries} entries")
    for problem in report.problems:
        session.screen.say(f"✗ {problem}")
    counts = (
        f"{report.messages} messages, {report.entries} acts, refusals and changes in {report.chains} chains"
    )
    if report.ok:
        session.screen.say(
            f"✓ nothing was altered: {counts}; {report.compared} compared with audit/heads.jsonl"
        )
    else:
        session.screen.say(f"{len(report.problems)} problems in {counts}")
