"""The statements of this engine, and which of them answers a lookup of records."""

from collections.abc import Sequence
from typing import Any

from msgspec import json

from moot.model.records.record import ALL, BY_KEY, Lookup, R
from moot.model.records.tables import TABLES
from moot.stores.statements import Statements

HERE = "moot.stores.postgres"

SHAPES = Statements(HERE, "shapes.sql")
LOCK = Statements(HERE, "lock.sql")
LOAD = Statements(HERE, "load.sql")
WRITE = Statements(HERE, "write.sql")
READ = Statements(HERE, "read.sql")
SCHEMA = Statements(HERE, "versions.sql")
SEARCH = Statements(HERE, "search.sql")
SOUND = Statements(HERE, "sound.sql")
AUDIT = Statements(HERE, "audit.sql")
TRANSFER = Statements(HERE, "transfer.sql")
RECORDS = {table.name: Statements(HERE, "records", f"{table.name}.sql") for table in TABLES}
"""Of each kind of record: its shape, how it is put, dropped and looked up."""


def query_for(lookups: Sequence[Lookup[R]]) -> tuple[str, list[Any]]:
    """The statement that answers lookups of one kind, and what is bound to it: nothing, keys as JSON, or values."""
    first = lookups[0]
    statements = RECORDS[first.table.name].all()
    if first.by == ALL:
        return statements["whole"], []
    if first.by == BY_KEY:
        return statements["by_key"], [by_keys([each.value for each in lookups])]
    return statements[f"by_{first.by}"], [[each.value[0] for each in lookups]]


def by_keys(keys: Sequence[tuple[str | int, ...]]) -> str:
    """What `by_key` takes."""
    return json.encode(keys).decode()
