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
from moot.hub.archive.import_ import ImportReport
from moot.hub.archive.validate import check

if TYPE_CHECKING:
    from moot.hub import Hub

DONE_WORDS = {"new": "imported", "resumed": "continued with", "there": "already here:"}
PREVIEW_WORDS = {"new": "would import", "resumed": "would continue with", "there": "already here:"}


@leaf("import", examples=("moot import all.jsonl --dry-run", "moot import all.jsonl"))
@click.argument("file")
@click.option("--dry-run", is_flag=True, help="Only show what would happen.")
def import_(session: Session, file: str, dry_run: bool) -> None:
    """Import exported conversations.

    FILE was written by moot export --format jsonl; - reads standard input. Every conversation becomes a new one, with
    the same authors, times and order. Importing a file twice changes nothing; after an interruption, importing it again
    continues where it stopped.
    """
    label = "standard input" if file == "-" else Path(file).name

    with _open_twice_readable(file) as stream:

        async def work(hub: Hub) -> ImportReport:
            contents = check(stream, label, limit_bytes=hub.settings.limits.message_bytes)
            importing = hub.conversations.importing(contents)
            return await (importing.preview() if dry_run else importing.run(stream))

        report = with_hub(session, work, here=True)
    if session.json:
        session.screen.data(to_builtins(report))
    else:
        _tell(session, report)


def _tell(session: Session, report: ImportReport) -> None:
    words = PREVIEW_WORDS if report.dry_run else DONE_WORDS
    for each in report.conversations:
        new_name = f' as "{each.called}", because its name is taken' if each.called != each.name else ""
        count = "" if each.state == "there" else f", {each.messages} messages"
        session.screen.say(f'{words[each.state]} "{each.name}"{new_name}{count}')
    for person in report.people:
        if not person.known:
            also = f" as {person.called}" if person.called != person.name else ""
            session.screen.say(f"  {person.name} ({person.kind}) is new here{also}, without credentials")
        elif person.called != person.name:
            session.screen.say(f"  {person.name} ({person.kind}) is called {person.called} here")
    if not report.conversations:
        session.screen.note("the file contains no conversations")


@contextmanager
def _open_twice_readable(file: str) -> Iterator[BinaryIO]:
    """The file, which is read twice: standard input is buffered for that."""
    if file == "-":
        with tempfile.TemporaryFile() as buffer:
            shutil.copyfileobj(sys.stdin.buffer, buffer)
            buffer.seek(0)
            yield buffer
        return
    path = Path(os.path.expanduser(file))
    if path.is_dir() or not path.exists():
        raise NotFound(f"{file} does not exist", fix=("moot export --all --format jsonl -o FILE",), ref=file)
    try:
        number = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError as error:
        raise StoreUnwritable(f"cannot read {file}: {error.strerror}") from None
    with os.fdopen(number, "rb") as stream:
        yield stream
