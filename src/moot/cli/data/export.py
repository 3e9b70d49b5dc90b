"""`moot export`: conversations as Markdown for people, or as JSON Lines that `moot import` reads."""

import asyncio
import os
import sys
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO

import click
from msgspec import Struct

from moot.cli.frame.hub_access import home_of, set_up_logs
from moot.cli.frame.params import leaf
from moot.cli.frame.resolve import only
from moot.cli.frame.session import Session
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.screen import safe
from moot.errors import Conflict, NotFound, StoreUnwritable
from moot.hub.archive.export import Export, chosen
from moot.hub.archive.markdown import markdown
from moot.rules.words.mentions import nearest
from moot.settings import Home
from moot.wiring import reading, storage

FORMATS = ("md", "jsonl")
PRIVATE = 0o600


class ExportOptions(Struct, frozen=True):
    """What is to be exported, and how."""

    ref: str | None
    form: str
    redact: bool


@leaf("export", examples=("moot export build -o build.md", "moot export --all --format jsonl -o all.jsonl"))
@click.argument("conv", required=False)
@click.option("--all", "every", is_flag=True, help="Export every conversation, including archived ones.")
@click.option(
    "--format", "form", type=click.Choice(FORMATS), help="Format (default: by the file's extension, or md)."
)
@click.option(
    "--redact", is_flag=True, help="Redact whatever looks like a key, a token or an e-mail address."
)
@click.option("-o", "--output", metavar="FILE", help="Write to this file (default: standard output).")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
def export(
    session: Session,
    *,
    conv: str | None,
    every: bool,
    form: str | None,
    redact: bool,
    output: str | None,
    force: bool,
) -> None:
    """Export conversations as Markdown or JSON Lines.

    CONV is the name or id of a conversation, archived or not. Read JSON Lines back with moot import.
    Shared notes are not in it: moot notes shows them, and backups hold them.
    """
    set_up_logs(session)
    if (conv is None) is not every:
        raise click.UsageError("name a conversation, or use --all")
    if session.json and output is None:
        raise click.UsageError("--json describes the exported file: add -o FILE")
    options = ExportOptions(conv, form or _form_of(output), redact)
    home = home_of(session)
    if output is None:
        asyncio.run(_write(home, options, _to_screen()))
        return
    target = Path(os.path.expanduser(output))
    _refuse_existing(target, force=force)
    with _replaced_whole(target) as file:
        exported = asyncio.run(_write(home, options, file.write))
    if session.json:
        result = {"path": str(target), "format": options.form, "redacted": redact}
        session.screen.data(
            {**result, "conversations": exported.conversations, "messages": exported.messages}
        )
    else:
        count = f"{exported.conversations} conversations with " if every else ""
        session.screen.say(f"✓ {tilde_path(target)}   {count}{exported.messages} messages")


async def write_markdown(home: Home, ref: str, target: Path) -> Export:
    """One conversation as Markdown, in a file that was not there before."""
    _refuse_existing(target, force=False)
    with _replaced_whole(target) as file:
        return await _write(home, ExportOptions(ref, _form_of(str(target)), False), file.write)


def _refuse_existing(target: Path, *, force: bool) -> None:
    if target.exists() and not force and not target.is_char_device():
        raise Conflict(f"{target} already exists", fix=("choose another name", "add --force"))


def _form_of(output: str | None) -> str:
    return "jsonl" if output is not None and output.endswith((".jsonl", ".ndjson")) else "md"


async def _write(home: Home, options: ExportOptions, write: Callable[[bytes], object]) -> Export:
    if not (store_place := storage(home)).exists():
        raise NotFound(
            f"there is nothing to export: {store_place.place} does not exist", ref=options.ref or ""
        )
    reads = reading(home)
    try:
        conversations = await chosen(reads, options.ref)
        if options.ref is not None and not conversations:
            every = {str(each.id): each.name for each in await chosen(reads, None)}
            missing = NotFound(
                f'no conversation is called "{options.ref}"',
                what="conversation",
                fix=("moot conv list",),
                suggestions=nearest(options.ref, list(every.values())),
                ref=options.ref,
            )
            conversations = await chosen(reads, only(options.ref, every, missing))
        exported = await Export.of(reads, redact=options.redact)
        chunks: AsyncIterator[bytes] = (
            exported.jsonl(conversations) if options.form == "jsonl" else markdown(exported, conversations)
        )
        async for chunk in chunks:
            write(chunk)
        return exported
    finally:
        await reads.close()


def _to_screen() -> Callable[[bytes], object]:
    """Bytes unchanged for programs; on a terminal, without control characters."""
    if not sys.stdout.isatty():
        return sys.stdout.buffer.write
    return lambda chunk: sys.stdout.write(safe(chunk.decode("utf-8", "replace")))


@contextmanager
def _replaced_whole(target: Path) -> Iterator[BinaryIO]:
    """A file under another name until it is complete and on disk; readable only by its owner."""
    if target.is_char_device():
        with target.open("wb") as device:
            yield device
        return
    draft = target.with_name(f".{target.name}.{os.getpid()}.partial")
    try:
        file: BinaryIO = os.fdopen(os.open(draft, os.O_CREAT | os.O_EXCL | os.O_WRONLY, PRIVATE), "wb")
        with file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        draft.replace(target)
    except OSError as error:
        raise StoreUnwritable(
            f"cannot write {target}: {error.strerror}", fix=("choose another file",)
        ) from error
    finally:
        draft.unlink(missing_ok=True)
