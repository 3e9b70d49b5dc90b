"""The database of a home as a thing: whether it is there, where, how large, and how copies of it are made and put back.

Above: backups, `moot doctor` and wiring ask here, and know of no file. Below: copies.py.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw

from moot.errors import StoreDamaged
from moot.model.hint import Act, Hint
from moot.storage import Holder, Inspection, Replaced
from moot.stores.sqlite.file import copies
from moot.stores.sqlite.peek import file_of

ENGINE = "sqlite"


def version() -> str:
    """Which release of SQLite keeps the data."""
    return f"{apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()})"


class SqliteStorage:
    """`Storage` in one file of the home."""

    def __init__(self, home: Path) -> None:
        self._file = file_of(home)
        self.engine = ENGINE
        self.version = version()
        self.place = str(self._file)
        self.backup_tool = ""

    def exists(self) -> bool:
        return self._file.exists()

    def is_remnant(self) -> bool:
        """A log whose database is gone: the writer refuses it, and says why."""
        return not self.exists() and self._file.with_name(f"{self._file.name}-wal").exists()

    def size(self) -> int:
        return self._file.stat().st_size

    def copy(self, target: Path) -> Inspection:
        return copies.copy(self._file, target)

    def inspect(self, copy: Path) -> Inspection:
        return copies.inspect(copy)

    @contextmanager
    def reserved(self) -> Iterator[Holder | None]:
        with copies.nobody_writes(self._file):
            pid = copies.holder(self._file)
            yield None if pid is None else Holder(f"process {pid}", (f"kill {pid}",))

    # --- putting a copy back ---------------------------------------------------------------------------------

    def replace(self, copy: Path, *, keep: Path) -> Replaced:
        staged, expected, revoked = copies.stage(copy, self._file)
        try:
            kept = self._kept(keep)
            copies.put_in_place(staged, self._file)
        finally:
            copies.remove(staged)
        found = copies.inspect(self._file)
        if found.messages != expected.messages or found.problems:
            raise StoreDamaged(
                f"{self.place} does not match the backup it was restored from",
                detail=found.problems[0]
                if found.problems
                else f"it has {found.messages} messages, not {expected.messages}",
                fix=(Hint(Act.RUN_DOCTOR),),
            )
        return Replaced(found.messages, kept, revoked)

    def _kept(self, target: Path) -> Path | None:
        """A copy of what is there; where it cannot be copied, it is set aside as it lies."""
        if not self.exists() and not self.is_remnant():
            return None
        try:
            if not self.exists():
                raise StoreDamaged(f"{self.place} is missing, but its log is still there")
            copies.copy(self._file, target)
            copies.fold_log(self._file)
        except StoreDamaged:
            target = target.with_suffix(".damaged")
            copies.set_aside(self._file, target)
        return target
