"""The statements of SQLite and PostgreSQL write the same columns in the same order, and say what they are for."""

import re
from pathlib import Path

import pytest

from moot.model.records.tables import TABLES
from moot.stores.postgres import statements as postgres
from moot.stores.sqlite import statements as sqlite
from moot.stores.statements import parse

FILES = sorted((Path(postgres.__file__).parent / "sql").rglob("*.sql"))
INSERT = re.compile(r"INSERT (?:OR IGNORE )?INTO (\w+) \(([^)]*)\)")
ONLY_THERE = {"messages": ["number", "said", "traits"]}
"""Columns that PostgreSQL has besides: the order of messages, and what a search looks for."""


def columns(statement: str) -> tuple[str, list[str]] | None:
    met = INSERT.search(statement)
    return None if met is None else (met[1], [name.strip().strip('"') for name in met[2].split(",")])


@pytest.mark.parametrize(
    "name", [one for one in sqlite.WRITE.all() if one.startswith(("add_", "append_", "put_"))]
)
def test_what_both_write_has_the_same_columns(name: str) -> None:
    ours, theirs = columns(sqlite.WRITE.all()[name]), columns(postgres.WRITE.all()[name])
    assert ours is not None
    table, names = ours
    assert theirs == (table, names + ONLY_THERE.get(table, []))


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.name)
def test_records_of_both_have_the_same_statements_and_columns(table: object) -> None:
    name = table.name  # type: ignore[attr-defined]
    ours, theirs = sqlite.RECORDS[name].all(), postgres.RECORDS[name].all()
    assert ours.keys() == theirs.keys()
    assert columns(ours["put"]) == columns(theirs["put"])


def test_both_know_the_same_shapes() -> None:
    assert sqlite.SHAPES.all().keys() == postgres.SHAPES.all().keys()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_statement_has_a_name_and_a_line_that_says_what_it_is_for(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    names = [n for n, line in enumerate(lines) if line.startswith("-- name: ")]
    assert len(names) == len(parse("\n".join(lines)))
    assert [lines[n] for n in names if not lines[n + 1].startswith("-- ")] == []
