"""`moot import`: take in conversations that `moot export --format jsonl` has written."""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click
from msgspec import to_builtins

from moot.cli.frame.hub_access import with_hub
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.errors import NotFound, StoreUnwritable
from moot.hub.archive.import_ import Report
from moot.hub.archive.validate import check

if TYPE_CHECKING:
    from moot.hub import Hub

DONE = {"new": "imported", "resumed": "went on with", "there": "is here already:"}
WOULD = {"new": "would import", "resumed": "would go on with", "there": "is here already:"}


@leaf("import", examples=("moot import all.jsonl --dry-run", "moot import all.jsonl"))
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Only say what would happen.")
def import_(session: Session, file: str, dry_run: bool) -> None:
    """Take in conversations that were exported.

    FILE is what moot export --format jsonl wrote; - reads standard input. Every conversation becomes a new one, with
    its authors, times and order. Importing the same file again changes nothing; after an interruption it goes on.
    """
    label = "standard input" if file == "-" else Path(file).name

    with _opened(file) as opened:

        async def work(hub: Hub) -> Report:
            checked = check(opened, label, limit_bytes=hub.settings.limits.message_bytes)
            importing = hub.conversations.importing(checked)
            return await (importing.preview() if dry_run else importing.run(opened))

        report = with_hub(session, work, here=True)
    if session.json:
        session.screen.data(to_builtins(report))
    else:
        _tell(session, report)


def _tell(session: Session, report: Report) -> None:
    words = WOULD if report.dry_run else DONE
    for each in report.conversations:
        called = f' as "{each.called}", its name is taken' if each.called != each.name else ""
        count = "" if each.state == "there" else f", {each.messages} messages"
        session.screen.say(f'{words[each.state]} "{each.name}"{called}{count}')
    for who in report.people:
        if not who.known:
            also = f" as {who.called}" if who.called != who.name else ""
            session.screen.say(f"  {who.name} ({who.kind}) is new here{also}, without credentials")
        elif who.called != who.name:
            session.screen.say(f"  {who.name} ({who.kind}) is {who.called} here")
    if not report.conversations:
        session.screen.note("there is no conversation in it")


@contextmanager
def _opened(file: str) -> Iterator[BinaryIO]:
    """The file is read twice: what comes by standard input is kept for that long."""
    if file == "-":
        with tempfile.TemporaryFile() as kept:
            shutil.copyfileobj(sys.stdin.buffer, kept)
            kept.seek(0)
            yield kept
        return
    path = Path(os.path.expanduser(file))
    if path.is_dir() or not path.exists():
        raise NotFound(
            f"there is no file {file}", fix=("moot export --all --format jsonl -o FILE",), ref=file
        )
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreUnwritable(f"{file} cannot be read: {error.strerror}") from None
    with os.fdopen(number, "rb") as opened:
        yield opened
