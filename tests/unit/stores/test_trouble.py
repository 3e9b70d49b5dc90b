"""What SQLite says, in Moot's words: each error goes to whoever must act on it."""

from pathlib import Path

import apsw
import pytest

from moot.errors import StoreDamaged, StoreUnwritable
from moot.stores.runner import BadRow
from moot.stores.sqlite.trouble import SyncFailed, moot_errors, write_errors

PATH = Path("moot.db")


def of(code: int) -> BaseException:
    return apsw.exception_for(code)


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (of(apsw.SQLITE_CONSTRAINT_UNIQUE), BadRow),
        (of(apsw.SQLITE_CONSTRAINT_DATATYPE), BadRow),
        (of(apsw.SQLITE_MISMATCH), BadRow),
        (of(apsw.SQLITE_TOOBIG), BadRow),
        (OverflowError("int too big"), BadRow),
        (UnicodeEncodeError("utf-8", "\ud800", 0, 1, "surrogates"), BadRow),
        (TypeError("no column holds that"), BadRow),
        (of(apsw.SQLITE_FULL), StoreUnwritable),
        (of(apsw.SQLITE_IOERR_WRITE), StoreUnwritable),
        (of(apsw.SQLITE_READONLY), StoreUnwritable),
        (of(apsw.SQLITE_BUSY), StoreUnwritable),
        (of(apsw.SQLITE_NOMEM), StoreUnwritable),
        (of(apsw.SQLITE_CANTOPEN), StoreUnwritable),
        (OSError(28, "No space left on device"), StoreUnwritable),
        (of(apsw.SQLITE_CORRUPT), StoreDamaged),
        (of(apsw.SQLITE_NOTADB), StoreDamaged),
        (of(apsw.SQLITE_IOERR_FSYNC), SyncFailed),
        (of(apsw.SQLITE_IOERR_DIR_FSYNC), SyncFailed),
        (of(apsw.SQLITE_ERROR), apsw.SQLError),
        (KeyError("a bug"), KeyError),
    ],
    ids=lambda value: repr(value) if isinstance(value, BaseException) else value.__name__,
)
def test_an_error_while_writing_rows_is_said_as_what_it_is(
    error: BaseException, kind: type[BaseException]
) -> None:
    with pytest.raises(kind), write_errors(PATH):
        raise error


def test_outside_of_rows_nothing_is_a_bad_row() -> None:
    with pytest.raises(StoreUnwritable), moot_errors(PATH):
        raise of(apsw.SQLITE_CONSTRAINT_UNIQUE)
    with pytest.raises(TypeError), moot_errors(PATH):
        raise TypeError("a bug")


@pytest.mark.parametrize(
    ("code", "words"),
    [
        (apsw.SQLITE_FULL, "the disk is full"),
        (apsw.SQLITE_BUSY, "another process holds its lock"),
        (apsw.SQLITE_READONLY, "it is not writable"),
    ],
)
def test_the_reason_is_said_plainly(code: int, words: str) -> None:
    with pytest.raises(StoreUnwritable, match=words) as refusal, moot_errors(PATH):
        raise of(code)
    assert refusal.value.fix


def test_a_failed_sync_is_not_something_to_catch_and_go_on() -> None:
    assert not issubclass(SyncFailed, Exception)


def test_a_clash_in_the_database_names_no_table() -> None:
    with pytest.raises(BadRow, match="has this name or key already") as refusal, write_errors(PATH):
        raise of(apsw.SQLITE_CONSTRAINT_UNIQUE)
    assert "conversations" not in str(refusal.value)
    with pytest.raises(BadRow, match="a rule of the database"), write_errors(PATH):
        raise of(apsw.SQLITE_CONSTRAINT_NOTNULL)
