"""What Moot changed in other programs' files, and their content before: `clients.json` in the home, mode 0600.

A file is recorded before it is changed, so that its first content is known whatever happens then.
"""

import os
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from moot.cli.mcp.clients import files
from moot.cli.mcp.clients.documents import Edit
from moot.cli.mcp.clients.entry import Way
from moot.cli.mcp.clients.known import Scope
from moot.errors import MootError
from moot.settings.home import Home

NAME: Final = "clients.json"
UNDER_WAY: Final = ""


class Touched(Struct, frozen=True):
    """One file: its content before, its state after, and our edits in it."""

    path: str
    before: bytes | None
    """None: there was no such file."""
    mode: int
    edits: tuple[Edit, ...]
    folders: tuple[str, ...] = ()
    """Folders made for it, outermost first."""
    after: str = UNDER_WAY
    """Fingerprint of the file as it was left; empty while it is being changed."""


class Issued(Struct, frozen=True):
    """A token that was made for a client."""

    agent: str
    id: str


class Change(Struct, frozen=True):
    """What was done for one client in one place."""

    client: str
    scope: Scope
    folder: str
    """The project; empty for the user's own settings."""
    way: Way
    at: str
    wake: bool = False
    files: tuple[Touched, ...] = ()
    token: Issued | None = None

    @property
    def key(self) -> tuple[str, str, str]:
        return (self.client, self.scope, self.folder)

    def file(self, path: Path) -> Touched | None:
        return next((each for each in self.files if each.path == str(path)), None)

    def with_file(self, touched: Touched) -> "Change":
        others = tuple(each for each in self.files if each.path != touched.path)
        return structs.replace(self, files=(*others, touched))


class LedgerFile(Struct, frozen=True):
    version: int = 1
    changes: tuple[Change, ...] = ()


class Ledger:
    """Read once, written whole after each step."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = home.path / NAME
        self._changes = {change.key: change for change in self._read().changes}

    def _read(self) -> LedgerFile:
        data = files.content(self._path)
        if data is None:
            return LedgerFile()
        try:
            return msgspec.json.decode(data, type=LedgerFile)
        except msgspec.DecodeError as error:
            raise MootError(
                f"cannot read {self._path}: {error}",
                detail="it records what Moot changed in other programs' files; nothing was changed now",
                fix=(f"mv {self._path} {self._path}.broken",),
            ) from None

    @property
    def changes(self) -> tuple[Change, ...]:
        return tuple(self._changes.values())

    def find(self, client: str, scope: Scope, folder: str) -> Change | None:
        return self._changes.get((client, scope, folder))

    def keep(self, change: Change) -> None:
        self._changes[change.key] = change
        self._write()

    def drop(self, change: Change) -> None:
        self._changes.pop(change.key, None)
        self._write()

    def _write(self) -> None:
        if not self._changes:
            self._path.unlink(missing_ok=True)
            return
        self._home.make()
        text = msgspec.json.format(msgspec.json.encode(LedgerFile(changes=self.changes)), indent=1)
        files.write(self._path, text, files.OWNER_ONLY)
        _sync(self._path.parent)


def _sync(folder: Path) -> None:
    """Make sure that the ledger's name is on disk before another program's file is changed."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
