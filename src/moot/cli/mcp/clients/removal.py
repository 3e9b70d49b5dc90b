"""Undo an installation: each file as it was or, if its owner changed it since, without our entry."""

import subprocess
from pathlib import Path
from typing import Literal

from msgspec import Struct, structs

from moot.cli.mcp.clients import files
from moot.cli.mcp.clients.documents import read, without_edits
from moot.cli.mcp.clients.files import Unreadable
from moot.cli.mcp.clients.installation import COMMAND_SECONDS
from moot.cli.mcp.clients.known import CLIENTS, UserEnvironment
from moot.cli.mcp.clients.ledger import Change, Ledger, Touched

How = Literal["restored", "cleaned", "gone", "kept"]


class Undone(Struct, frozen=True):
    """What became of one file."""

    client: str
    path: str
    how: How
    why: str = ""


def undo(change: Change, ledger: Ledger, place: UserEnvironment) -> list[Undone]:
    """Undo all files of a change. What could not be undone stays in the ledger, with the reason."""
    undone = [_file(change, touched, place) for touched in reversed(change.files)]
    kept = {each.path for each in undone if each.how == "kept"}
    if kept:
        ledger.keep(structs.replace(change, files=tuple(f for f in change.files if f.path in kept)))
    else:
        ledger.drop(change)
    return undone


def _file(change: Change, touched: Touched, place: UserEnvironment) -> Undone:
    path = Path(touched.path)
    data = files.content(path)
    now = files.fingerprint(data)
    if now == files.fingerprint(touched.before):
        return Undone(change.client, touched.path, "restored")
    if now == touched.after:
        _put_back(touched)
        return Undone(change.client, touched.path, "restored")
    if data is None:
        return Undone(change.client, touched.path, "gone", "it has been removed since")
    try:
        return _clean(change, touched, data, place)
    except (Unreadable, OSError) as trouble:
        return Undone(change.client, touched.path, "kept", str(trouble))


def _put_back(touched: Touched) -> None:
    folders = tuple(Path(folder) for folder in touched.folders)
    files.put_back(Path(touched.path), touched.before, touched.mode, folders)


def _clean(change: Change, touched: Touched, data: bytes, place: UserEnvironment) -> Undone:
    """The file has changed since: keep those changes and remove our entry."""
    path = Path(touched.path)
    rest = without_edits(path, data, touched.edits, touched.before)
    if rest == touched.before:
        _put_back(touched)
        return Undone(change.client, touched.path, "restored")
    if rest is not None and not _removed_by_client(change, path, place):
        files.write(path, rest, files.mode_of(path))
    return Undone(
        change.client, touched.path, "cleaned", "it has changed since, so only Moot's entry was removed"
    )


def _removed_by_client(change: Change, path: Path, place: UserEnvironment) -> bool:
    """Whether the client's own command removed the entry: it may lay out its file in its own way."""
    client = CLIENTS[change.client]
    command, program = client.removing(change.scope), client.found(place)
    there = structs.replace(place, folder=Path(change.folder)) if change.folder else place
    if command is None or program is None or path != client.config(change.scope, there):
        return False
    try:
        subprocess.run(
            (program, *command[1:]),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            cwd=there.folder,
            timeout=COMMAND_SECONDS,
            check=True,
        )
    except (OSError, subprocess.SubprocessError):
        return False
    return client.knows(read(path, files.content(path))) is None
