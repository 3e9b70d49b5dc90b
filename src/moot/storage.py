"""A home's data as a thing, without a hub: whether it is there, and how copies of it are made and put back.

Above: backups, export and `moot doctor`, through wiring. Below: a store's own files or server. Not here: what is in it
(ports.py).
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol

from msgspec import Struct

from moot.model.hint import Way


class Inspection(Struct, frozen=True):
    """What reading a copy of the data whole has shown; sound when there are no problems."""

    schema: int
    messages: int
    problems: tuple[str, ...] = ()


class Replaced(Struct, frozen=True):
    """What came of putting a copy in the place of the data."""

    messages: int
    kept: Path | None
    """What was there before, as a copy; where it could not be read, a folder `*.damaged`. None: nothing was there."""
    revoked: int
    """Tokens that were good when the copy was made and open nothing now."""


class Transferred(Struct, frozen=True):
    """What came of moving everything into another store."""

    origin: str
    target: str
    rows: int
    messages: int
    resumed: int
    """Rows that had arrived before an interruption."""


class Holder(Struct, frozen=True):
    """Somebody who has the data open."""

    name: str
    fix: tuple[Way, ...]


class Storage(Protocol):
    """Where a home keeps its data. A copy is a file, whatever keeps the data. Everything here blocks."""

    engine: str
    """What keeps the data, such as `sqlite`."""
    version: str
    place: str
    """Where it is, for people: a path or an address, without secrets."""

    backup_tool: str
    """What makes copies of it where Moot does not; empty where it does."""

    def exists(self) -> bool: ...
    def is_remnant(self) -> bool:
        """Only something beside the data is left: whoever opens it for writing says what is wrong."""
        ...

    def size(self) -> int:
        """Bytes that a copy takes, about."""
        ...

    def copy(self, target: Path) -> Inspection:
        """A verified copy of one moment, whoever writes meanwhile."""
        ...

    def inspect(self, copy: Path) -> Inspection:
        """Read a copy whole. Raises where it is not one at all."""
        ...

    def replace(self, copy: Path, *, keep: Path) -> Replaced:
        """Put a copy in the place of the data, once it has been read whole and what is there now is kept."""
        ...

    def reserved(self) -> AbstractContextManager[Holder | None]:
        """Until the block is left nobody opens it for writing; inside, whoever has it open already."""
        ...


class FarLane(Protocol):
    """Carries lines to every other hub on the same store, on whichever machine; never waits, and may lose them."""

    def send(self, line: str) -> None: ...
    def hear(self, listener: Callable[[str], None]) -> None: ...
