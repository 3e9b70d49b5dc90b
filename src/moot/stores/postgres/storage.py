"""`Storage` for a PostgreSQL database. It is backed up and restored with PostgreSQL's own tools: the refusals here name
them.

Above: backups, export and `moot doctor`, through wiring. It connects to no server and imports no driver.
"""

from contextlib import AbstractContextManager
from pathlib import Path

from moot.errors import BadValue
from moot.storage import Holder, Inspection, Replaced
from moot.stores.postgres.address import Address

ENGINE = "postgresql"


class PostgresStorage:
    """`Storage` in a schema of a database server."""

    def __init__(self, address: Address) -> None:
        self._schema = address.schema
        self.engine = ENGINE
        self.version = "on a server, 15 or newer"
        self.backup_tool = "pg_dump"
        self.place = address.shown

    def exists(self) -> bool:
        """Assumed without a connection; opening it tells."""
        return True

    def is_remnant(self) -> bool:
        return False

    def size(self) -> int:
        """No bytes on this machine."""
        return 0

    def copy(self, target: Path) -> Inspection:
        raise self._refusal(
            "backed up", f"pg_dump --format=custom --schema={self._schema} --file=moot.dump DATABASE"
        )

    def inspect(self, copy: Path) -> Inspection:
        raise self._refusal("checked", "pg_restore --list moot.dump")

    def replace(self, copy: Path, *, keep: Path) -> Replaced:
        raise self._refusal("restored", "pg_restore --clean --if-exists --dbname=DATABASE moot.dump")

    def reserved(self) -> AbstractContextManager[Holder | None]:
        raise self._refusal("restored", "pg_restore --clean --if-exists --dbname=DATABASE moot.dump")

    def _refusal(self, what: str, command: str) -> BadValue:
        return BadValue(
            f"{self.place} is {what} with PostgreSQL's own tools",
            detail="this home keeps its conversations on a database server; nothing was changed",
            fix=(command,),
        )
