"""SQL as it is written in the files beside this one: named statements, read once at import."""

import re
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

from moot.model.records.record import ALL, BY_KEY, Lookup, R
from moot.model.records.tables import TABLES

_NAME = re.compile(r"^-- name: (\w+)\n", re.MULTILINE)
_COMMENT = re.compile(r"^--.*\n", re.MULTILINE)


def parse(text: str) -> dict[str, str]:
    """Name → statement, without the comment lines around it."""
    _, *parts = _NAME.split(text)
    return {name: _COMMENT.sub("", body).strip() for name, body in zip(parts[::2], parts[1::2], strict=True)}


class Statements:
    """The statements of one file as attributes."""

    def __init__(self, *path: str) -> None:
        text = files("moot.stores.sqlite").joinpath("sql", *path).read_text(encoding="utf-8")
        self.__dict__.update(parse(text))

    def __getattr__(self, name: str) -> str:
        raise AttributeError(f"there is no statement named {name}")

    def all(self) -> dict[str, str]:
        return dict(self.__dict__)


SHAPES = Statements("shapes.sql")
LOAD = Statements("load.sql")
WRITE = Statements("write.sql")
READ = Statements("read.sql")
SCHEMA = Statements("versions.sql")
SEARCH = Statements("search.sql")
BACKUP = Statements("backup.sql")
SOUND = Statements("sound.sql")
AUDIT = Statements("audit.sql")
RECORDS = {table.name: Statements("records", f"{table.name}.sql") for table in TABLES}
"""Of each kind of record: its shape, how it is put, dropped and looked up."""


def query_for(lookups: Sequence[Lookup[R]]) -> tuple[str, list[Any]]:
    """The statement that answers lookups of one kind, and the list it takes: of keys, or of values."""
    first = lookups[0]
    statements = RECORDS[first.table.name].all()
    if first.by == ALL:
        return statements["whole"], []
    values = [each.value if each.by == BY_KEY else each.value[0] for each in lookups]
    return statements[f"by_{first.by}"], values
