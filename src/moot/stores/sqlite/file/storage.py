"""The database of a home as a thing: whether it is there, where, how large, and how copies of it are made and put back.

Above: backups, `moot doctor` and wiring ask here, and know of no file. Below: copies.py.
"""

from contextlib import AbstractContextManager
from pathlib import Path

import apsw

from moot.errors import StoreDamaged
from moot.stores.sqlite.file import copies
from moot.stores.sqlite.file.copies import Found
from moot.stores.sqlite.peek import file_of


def version() -> str:
    """What keeps the data, and which release of it."""
    return f"{apsw.sqlite_lib_version()} (apsw {apsw.apsw_version()})"


class SqliteStorage:
    def __init__(self, home: Path) -> None:
        self.place = file_of(home)
        """Where the data lies."""

    def exists(self) -> bool:
        return self.place.exists()

    def is_remnant(self) -> bool:
        """A log whose database is gone: the writer refuses it, and says why."""
        return not self.exists() and self.place.with_name(f"{self.place.name}-wal").exists()

    def size(self) -> int:
        return self.place.stat().st_size

    # --- copies --------------------------------------------------------------------------------------------

    def copy(self, target: Path) -> Found:
        """A verified copy, whoever writes meanwhile."""
        return copies.copy(self.place, target)

    def inspect(self) -> Found:
        return copies.inspect(self.place)

    def stage(self, source: Path) -> tuple[Path, Found]:
        """A copy made ready to take the database's place, read whole."""
        return copies.stage(source, self.place)

    def put_in_place(self, staged: Path) -> None:
        copies.put_in_place(staged, self.place)

    def nobody_writes(self) -> AbstractContextManager[None]:
        return copies.nobody_writes(self.place)

    def holder(self) -> int | None:
        """The process that has it open, if any."""
        return copies.holder(self.place)

    def keep(self, target: Path) -> None:
        """Copy what is there, for good, before it is replaced."""
        if not self.exists():
            raise StoreDamaged(f"{self.place} is gone, but its log is still here")
        copies.copy(self.place, target)

    def fold_log(self) -> None:
        copies.fold_log(self.place)

    def set_aside(self, folder: Path) -> None:
        """Keep what cannot be copied as it lies."""
        copies.set_aside(self.place, folder)


inspect = copies.inspect
"""Read a copy whole; what is wrong with it is in what was found."""
remove = copies.remove
"""Remove a copy and what lies beside it."""
