"""What SQLite's errors mean to Moot: a bad row, a store not writable now, a damaged store, or the end.

Only this module knows both vocabularies.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import apsw
from msgspec import DecodeError

from moot.errors import MootError, StoreDamaged, StoreUnwritable
from moot.model.hint import Act, Hint
from moot.stores.runner import BadRow

ABOUT_THE_ROW = (apsw.ConstraintError, apsw.MismatchError, apsw.TooBigError, apsw.RangeError)
ABOUT_THE_FILE = (apsw.CorruptError, apsw.NotADBError, apsw.FormatError, DecodeError, UnicodeDecodeError)
"""SQLite checks neither that a text is UTF-8 nor that what is written as JSON is JSON: whoever reads it does."""
ABOUT_CONTENT = ("JSON", "malformed", "integer overflow", "fts5", "vtable constructor", "SQL logic error")
"""Said of a statement that is right, over a file that is not what it was."""
OUR_OWN_FAULT = (apsw.SQLError, apsw.BindingsError, apsw.MisuseError)
"""The statement is wrong, or called wrongly: a bug, not a problem of the disk."""
NOT_A_VALUE = (OverflowError, UnicodeError, TypeError, ValueError, RecursionError)
"""What APSW and msgspec say of a value that no column can hold."""
ALREADY_THERE = frozenset(
    {apsw.SQLITE_CONSTRAINT_UNIQUE, apsw.SQLITE_CONSTRAINT_PRIMARYKEY, apsw.SQLITE_CONSTRAINT_ROWID}
)
SYNC_FAILED = frozenset({apsw.SQLITE_IOERR_FSYNC, apsw.SQLITE_IOERR_DIR_FSYNC})


class SyncFailed(SystemExit):
    """The disk did not store what it was given. Nothing known about the file holds any longer: a later sync may
    succeed without the lost pages, so the process ends and the next one recovers."""


@contextmanager
def moot_errors(path: Path) -> Iterator[None]:
    """Translate everything SQLite raises about this database into Moot's own errors."""
    try:
        yield
    except ABOUT_THE_FILE as error:
        raise damaged(path, str(error)) from error
    except OUR_OWN_FAULT as error:
        if _is_about_content(path, error):
            raise damaged(path, str(error)) from error
        raise
    except (apsw.Error, OSError) as error:
        raise unwritable(path, error) from error


def _is_about_content(path: Path, error: Exception) -> bool:
    """Whether the file is to blame: a statement is wrong either because we wrote it so, or because what it speaks of
    is no longer in the schema."""
    from moot.stores.sqlite.file.outline import is_as_made  # noqa: PLC0415  it imports this; and only when it is too late

    return any(words in str(error) for words in ABOUT_CONTENT) or not is_as_made(path)


def damaged(path: Path, what: str) -> StoreDamaged:
    return StoreDamaged(
        f"{path} is damaged or is not a Moot database",
        detail=f"{what}; nothing was changed",
        fix=(Hint(Act.RUN_DOCTOR), Hint(Act.RESTORE_BACKUP)),
        path=str(path),
    )


def unwritable(path: Path, error: BaseException) -> MootError | SyncFailed:
    """A fact about the disk or the lock, never about a row."""
    if getattr(error, "extendedresult", 0) in SYNC_FAILED:
        return SyncFailed(f"{path} could not be synced to disk: {error}")
    match error:
        case apsw.BusyError() | apsw.LockedError():
            what = "another process holds its lock"
        case apsw.FullError():
            what = "the disk is full"
        case apsw.ReadOnlyError() | apsw.PermissionsError() | PermissionError():
            what = "it is not writable"
        case FileNotFoundError():
            what = "it does not exist"
        case apsw.CantOpenError():
            what = "it cannot be opened"
        case _:
            what = "the disk or the file system failed"
    return StoreUnwritable(
        f"cannot write to {path}: {what}",
        detail=f"{type(error).__name__}: {error}",
        fix=(Hint(Act.RUN_DOCTOR),),
        path=str(path),
    )


def _of_the_row(error: Exception) -> str:
    """Without the names of tables and columns, which mean nothing to the caller."""
    if not isinstance(error, apsw.ConstraintError):
        return str(error)
    if getattr(error, "extendedresult", 0) in ALREADY_THERE:
        return "something else has this name or key already"
    return "it breaks a rule of the database"


@contextmanager
def write_errors(path: Path) -> Iterator[None]:
    """As `moot_errors`, where a complaint can also be about what a row holds."""
    try:
        yield
    except ABOUT_THE_FILE as error:
        raise damaged(path, str(error)) from error
    except (*ABOUT_THE_ROW, *NOT_A_VALUE) as error:
        raise BadRow(_of_the_row(error)) from error
    except OUR_OWN_FAULT as error:
        if _is_about_content(path, error):
            raise damaged(path, str(error)) from error
        raise
    except (apsw.Error, OSError) as error:
        raise unwritable(path, error) from error
