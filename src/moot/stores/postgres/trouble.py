"""What PostgreSQL's errors mean to Moot: a bad row, a batch to run again, a store not writable now, or a bug.

Only this module knows both vocabularies.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager

import asyncpg
from msgspec import DecodeError

from moot.errors import MootError, StoreDamaged, StoreUnwritable
from moot.model.hint import Act, Hint
from moot.stores.async_runner import TryAgain
from moot.stores.runner import BadRow

ABOUT_THE_ROW = (
    asyncpg.DataError,
    asyncpg.IntegrityConstraintViolationError,
    asyncpg.ProgramLimitExceededError,
    asyncpg.UntranslatableCharacterError,
)
NOT_A_VALUE = (OverflowError, UnicodeError, TypeError, ValueError, RecursionError)
"""Raised by asyncpg and msgspec for a value that no column can hold."""
OVERTAKEN = (
    asyncpg.SerializationError,
    asyncpg.DeadlockDetectedError,
    asyncpg.LockNotAvailableError,
    asyncpg.UniqueViolationError,
)
"""Another hub was faster: what the batch was decided on may have changed."""
OUT_OF_REACH = (
    OSError,
    asyncio.TimeoutError,
    asyncpg.PostgresConnectionError,
    asyncpg.OperatorInterventionError,
    asyncpg.InterfaceError,
    asyncpg.InternalClientError,
    asyncpg.TooManyConnectionsError,
)
"""The connection or the server is gone; whether the work under way was stored is not known by that."""
REFUSED = (
    asyncpg.InsufficientResourcesError,
    asyncpg.ReadOnlySQLTransactionError,
    asyncpg.InsufficientPrivilegeError,
    asyncpg.InvalidAuthorizationSpecificationError,
    asyncpg.InvalidCatalogNameError,
)
ABOUT_THE_ADDRESS = (asyncpg.InvalidAuthorizationSpecificationError, asyncpg.InvalidCatalogNameError)
ABOUT_THE_DATA = (asyncpg.DataCorruptedError, asyncpg.IndexCorruptedError, DecodeError)
RETRY_MS = 1000


@contextmanager
def moot_errors(place: str) -> Iterator[None]:
    """Translate PostgreSQL's errors about this database into Moot's."""
    try:
        yield
    except ABOUT_THE_DATA as error:
        raise damaged(place, str(error)) from error
    except OUT_OF_REACH as error:
        raise unreachable(place, error) from error
    except REFUSED as error:
        raise refused(place, error) from error


@contextmanager
def connect_errors(place: str) -> Iterator[None]:
    """As `moot_errors`, while connecting: any other error of the server is about the address."""
    try:
        with moot_errors(place):
            yield
    except StoreUnwritable as error:
        if isinstance(error.__cause__, ABOUT_THE_ADDRESS):
            raise not_admitted(place, error.__cause__) from error.__cause__
        raise
    except asyncpg.PostgresError as error:
        raise not_admitted(place, error) from error


def _row_problem(error: Exception) -> str:
    """Without names of tables and columns, which mean nothing to the caller."""
    if isinstance(error, asyncpg.UniqueViolationError):
        return "something else has this name or key already"
    if isinstance(error, asyncpg.IntegrityConstraintViolationError):
        return "it breaks a rule of the database"
    return str(error)


@contextmanager
def write_errors(place: str) -> Iterator[None]:
    """As `moot_errors`, while writing: an error can also be about a row, or mean that another hub was faster."""
    try:
        yield
    except OVERTAKEN as error:
        raise TryAgain(
            _row_problem(error), bad_row=isinstance(error, asyncpg.UniqueViolationError)
        ) from error
    except ABOUT_THE_DATA as error:
        raise damaged(place, str(error)) from error
    except (
        *ABOUT_THE_ROW,
        *NOT_A_VALUE,
    ) as error:  # asyncpg raises ValueErrors of its own for what it cannot encode
        raise BadRow(_row_problem(error)) from error
    except OUT_OF_REACH as error:
        raise unreachable(place, error) from error
    except REFUSED as error:
        raise refused(place, error) from error


@contextmanager
def commit_errors(place: str) -> Iterator[None]:
    """During COMMIT: translate refusals, such as a full disk. A lost connection is raised unchanged."""
    try:
        yield
    except OUT_OF_REACH:
        raise
    except asyncpg.PostgresError as error:
        raise refused(place, error) from error


def damaged(place: str, what: str) -> StoreDamaged:
    return StoreDamaged(
        f"{place} is damaged or is not a Moot database",
        detail=f"{what}; nothing was changed",
        fix=(Hint(Act.RUN_DOCTOR), "restore it from a pg_dump"),
        path=place,
    )


def unreachable(place: str, error: BaseException, *, detail: str = "") -> MootError:
    return StoreUnwritable(
        f"cannot reach {place}",
        detail=detail or f"{type(error).__name__}: {error}",
        fix=("see whether the PostgreSQL server runs, and try again", Hint(Act.RUN_DOCTOR)),
        path=place,
        retry_after_ms=RETRY_MS,
    )


def refused(place: str, error: BaseException) -> MootError:
    return StoreUnwritable(
        f"{place} takes nothing now",
        detail=f"{type(error).__name__}: {error}",
        fix=(Hint(Act.RUN_DOCTOR),),
        path=place,
        retry_after_ms=RETRY_MS,
    )


def not_admitted(place: str, error: BaseException) -> MootError:
    return StoreUnwritable(
        f"{place} does not let Moot in",
        detail=f"the server says: {error}",
        fix=("correct store.url: its user, password, database and options", Hint(Act.RUN_DOCTOR)),
        path=place,
        retry_after_ms=RETRY_MS,
    )


def half_moved(place: str) -> MootError:
    """A move into this database was interrupted, or is under way."""
    return StoreUnwritable(
        f"a store is being moved to {place}, and not all of it has arrived",
        detail="until then nothing else is written there; the old store is whole, and still works",
        fix=(Hint(Act.MOVE_STORE),),
        path=place,
    )


def unknown(place: str) -> MootError:
    """A commit was sent and its answer was lost, and the server could not be asked in time."""
    return StoreUnwritable(
        f"lost {place} while it committed: whether this was stored is not known",
        detail="the server could not be asked again in time",
        fix=("send it again under the same idempotency key: it is stored once, whatever happened",),
        path=place,
        retry_after_ms=RETRY_MS,
    )
