"""The statements of this engine, and which of them answers a lookup of records."""

from collections.abc import Sequence
from typing import Any

from moot.model.records.record import ALL, BY_KEY, Lookup, R
from moot.model.records.tables import TABLES
from moot.stores.statements import Statements

HERE = "moot.stores.sqlite"

SHAPES = Statements(HERE, "shapes.sql")
LOAD = Statements(HERE, "load.sql")
WRITE = Statements(HERE, "write.sql")
READ = Statements(HERE, "read.sql")
SCHEMA = Statements(HERE, "versions.sql")
SEARCH = Statements(HERE, "search.sql")
BACKUP = Statements(HERE, "backup.sql")
SOUND = Statements(HERE, "sound.sql")
AUDIT = Statements(HERE, "audit.sql")
TRANSFER = Statements(HERE, "transfer.sql")
RECORDS = {table.name: Statements(HERE, "records", f"{table.name}.sql") for table in TABLES}
"""Of each kind of record: its shape, how it is put, dropped and looked up."""


def query_for(lookups: Sequence[Lookup[R]]) -> tuple[str, list[Any]]:
    """The statement that answers lookups of one kind, and the list it takes: of keys, or of values."""
    first = lookups[0]
    statements = RECORDS[first.table.name].all()
    if first.by == ALL:
        return statements["whole"], []
    values = [each.value if each.by == BY_KEY else each.value[0] for each in lookups]
    return statements[f"by_{first.by}"], values
