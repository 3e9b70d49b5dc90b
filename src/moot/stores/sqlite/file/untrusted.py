"""A database that others may have touched: what it brings along acts on nothing, its files are for its owner alone, and
they are still the files that were opened.

Above: whoever opens a connection. Below: moot/files.py. Not here: whether what stands in it is sound (soundness.py).
"""

import os
from pathlib import Path

import apsw

from moot import files
from moot.errors import StoreDamaged, StoreUnwritable
from moot.model.hint import Act, Hint

PARTS = ("", "-wal", "-shm")
"""The file, its log, and the index of its log, which every process that has it open shares."""


def distrust(connection: apsw.Connection) -> None:
    """Whatever a file brings along acts on nothing: no trigger runs, nothing in a schema calls what has effects."""
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 1)
    connection.config(apsw.SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0)
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_TRIGGER, 0)


def close_to_others(path: Path) -> None:
    """What is there of a database is a plain file each, for its owner alone; a link is refused, not followed. SQLite
    gives a log the mode of its database, so that nothing more is needed for those to come."""
    for ending in PARTS:
        part = path.with_name(path.name + ending)
        try:
            files.tighten(part)
        except FileNotFoundError:
            continue
        except files.Unfit as unfit:
            raise StoreUnwritable(
                f"cannot use {part}: {unfit.strerror}",
                detail="expected a regular file of yours; nothing was changed",
                fix=(f"ls -l {part}", "choose another folder with --home or MOOT_HOME"),
                path=str(path),
            ) from None


class OpenFiles:
    """The files of an open database, to be looked at after each commit: three stats, some microseconds.

    Whoever deletes a log under a running hub takes away what was committed since it was last folded back, and nothing
    tells: everything goes on in a file without a name until the process ends.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._parts = [(part, os.stat(part).st_ino) for part in (f"{path}{ending}" for ending in PARTS)]

    def check(self) -> None:
        try:
            for part, number in self._parts:
                if os.stat(part).st_ino != number:
                    raise self._gone(part)
        except FileNotFoundError as gone:
            raise self._gone(str(gone.filename)) from None

    def is_replaced(self) -> bool:
        """Whether other files are in their place by now: then ours must not be folded into them."""
        return any(os.path.exists(part) and os.stat(part).st_ino != number for part, number in self._parts)

    def _gone(self, part: str) -> StoreDamaged:
        return StoreDamaged(
            f"{self._path} was deleted or replaced while it was open",
            detail=f"{os.path.basename(part)} is no longer the file that was opened; nothing more is stored",
            fix=(Hint(Act.STOP_HUB), Hint(Act.RUN_DOCTOR), Hint(Act.RESTORE_BACKUP)),
            path=str(self._path),
        )
