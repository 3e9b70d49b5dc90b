"""Migrations: numbered files in schema/, taken under a lock, so that several hubs may start at once.

All missing steps are one transaction; a newer schema is refused and left untouched. The views that reads decode
(shapes) are created here as well: they belong to the code, and are replaced when they differ.
"""

import hashlib
import re
from datetime import UTC, datetime
from importlib.resources import files

from msgspec import Struct

from moot import __version__
from moot.errors import StoreNewer
from moot.stores.postgres.server import Connection, Server, lock_number
from moot.stores.postgres.statements import HERE, RECORDS, SCHEMA, SHAPES, TRANSFER, WRITE
from moot.stores.postgres.trouble import half_moved, moot_errors

COMPAT = 1
"""The oldest schema whose Moot can still read what this one writes."""
_FILE = re.compile(r"^(\d{4})_\w+\.sql$")


class SchemaStep(Struct, frozen=True):
    number: int
    script: str


def shipped() -> tuple[SchemaStep, ...]:
    """The migrations in schema/, in order, without gaps."""
    steps = [
        SchemaStep(int(match[1]), file.read_text(encoding="utf-8"))
        for file in files(HERE).joinpath("schema").iterdir()
        if (match := _FILE.match(file.name))
    ]
    return tuple(sorted(steps, key=lambda step: step.number))


async def bring_up(
    server: Server,
    connection: Connection,
    steps: tuple[SchemaStep, ...] | None = None,
    *,
    unfinished: bool = False,
) -> None:
    """Create or migrate the schema if need be, and let ids go on after the last one. A schema into which a store is
    being moved is refused, unless `unfinished`."""
    schema = server.address.schema
    with moot_errors(server.address.shown):
        async with connection.transaction():
            await connection.execute(SCHEMA.alone, lock_number(schema, "migrate"))
            if not await connection.fetchval(SCHEMA.schema_is_there, schema):
                await connection.execute(SCHEMA.name_schema, schema)
                await connection.execute(SCHEMA.make_schema)
            await _take_steps(server, connection, steps or shipped())
            await _update_shapes(connection)
            await connection.execute(SCHEMA.raise_base)
            if steps is None:
                await connection.execute(WRITE.note_writer)
            if not unfinished and await connection.fetchval(TRANSFER.mark) is not None:
                raise half_moved(server.address.shown)


async def is_current(connection: Connection) -> bool:
    """Whether a database has the current schema and is complete; if not, `bring_up` says what is wrong."""
    if not await connection.fetchval(SCHEMA.known) or await connection.fetchval(TRANSFER.mark) is not None:
        return False
    version, *_ = await connection.fetchrow(SCHEMA.newest) or (0,)
    return bool(
        version == shipped()[-1].number and await connection.fetchval(SCHEMA.shapes) == _digest(_shapes())
    )


def _shapes() -> list[str]:
    return [*SHAPES.all().values(), *(statements.shape for statements in RECORDS.values())]


def _digest(shapes: list[str]) -> str:
    return hashlib.sha256("\n".join(shapes).encode()).hexdigest()


async def _take_steps(server: Server, connection: Connection, steps: tuple[SchemaStep, ...]) -> None:
    version = 0
    if await connection.fetchval(SCHEMA.known):
        version, _, moot = await connection.fetchrow(SCHEMA.newest) or (0, 0, "")
        if version > steps[-1].number:
            raise StoreNewer(
                f"{server.address.shown} was written by moot {moot}, this is {__version__}",
                detail=f"its schema is {version}, the newest known here is {steps[-1].number}; nothing was changed",
                fix=("uv tool upgrade moot",),
                path=server.address.shown,
            )
    await connection.execute(SCHEMA.versions)
    missing = [step for step in steps if step.number > version]
    if missing and version:  # views prevent changes of their columns
        await connection.execute(SCHEMA.drop_shapes)
        await connection.execute(SCHEMA.note_shapes, "")
    for step in missing:
        await connection.execute(step.script)
        applied_at = datetime.now(UTC).isoformat()
        await connection.execute(SCHEMA.record, step.number, COMPAT, __version__, applied_at)


async def _update_shapes(connection: Connection) -> None:
    shapes = _shapes()
    digest = _digest(shapes)
    if await connection.fetchval(SCHEMA.shapes) != digest:
        await connection.execute(SCHEMA.drop_shapes)
        for shape in shapes:
            await connection.execute(shape)
        await connection.execute(SCHEMA.note_shapes, digest)
