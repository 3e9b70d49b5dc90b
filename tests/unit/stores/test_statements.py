"""Every SQL statement says what it is for, fits the schema, and finds its rows by an index."""

import re
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from moot.stores.sqlite import statements
from moot.stores.sqlite.file import database, migrate
from moot.stores.sqlite.statements import BACKUP, LOAD, READ, SCHEMA, SEARCH, WRITE
from moot.stores.statements import parse

FILES = sorted((Path(statements.__file__).parent / "sql").glob("*.sql"))
STATEMENTS = {
    f"{file}.{name}": text
    for file, found in (
        ("load", LOAD),
        ("read", READ),
        ("search", SEARCH),
        ("write", WRITE),
        ("schema", SCHEMA),
        ("backup", BACKUP),
    )
    for name, text in found.all().items()
}
MAY_SCAN = {
    "read.conversations": "lists them all",
    "read.members_everywhere": "lists those of all conversations",
    "read.newest_everywhere": "lists one of every conversation",
    "read.note_count": "counts some hundred by their key, without their texts",
    "read.participants": "lists them all",
    "read.pairs": "lists the hot ones of all pairs, for a person who looks at limits",
    "read.quotas": "lists them all",
    "read.hosts": "lists them all",
    "read.count_messages": "counts them all, for doctor",
    "read.turns": "newest first up to a limit",
    "read.turns_open": "an index that holds open turns only",
    "search.rows_between": "a row for each thousand messages",
    "write.forgettable": "the oldest up to a limit",
    "backup.look": "of the schema itself",
    "backup.forget_sockets": "a row for each process",
    "backup.good_tokens": "all of them, at a restore",
    "schema.outline": "of the schema itself",
    "schema.known": "of the schema itself",
    "schema.newest": "the highest version",
}


@pytest.fixture(scope="module")
def connection(tmp_path_factory: pytest.TempPathFactory) -> Iterator[apsw.Connection]:
    connection = database.writer(tmp_path_factory.mktemp("db") / "moot.db")
    migrate.apply(connection, migrate.shipped())
    database.give_shapes(connection)
    yield connection
    connection.close()


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.name)
def test_every_statement_has_a_name_and_a_line_that_says_what_it_is_for(file: Path) -> None:
    lines = file.read_text(encoding="utf-8").splitlines()
    names = [n for n, line in enumerate(lines) if line.startswith("-- name: ")]
    assert len(names) == len(parse("\n".join(lines)))
    assert [lines[n] for n in names if not lines[n + 1].startswith("-- ")] == []


@pytest.mark.parametrize("name", STATEMENTS)
def test_a_statement_fits_the_schema_and_reads_no_table_from_end_to_end(
    connection: apsw.Connection, name: str
) -> None:
    plan: list[str] = []
    for statement in STATEMENTS[name].split(";\n"):
        explained = connection.execute(f"EXPLAIN QUERY PLAN {statement}", _bindings(statement))
        plan += [str(row[3]) for row in explained]
    scans = [line for line in plan if line.startswith("SCAN") and not _small(line)]
    assert bool(scans) == (name in MAY_SCAN), scans


def _small(line: str) -> bool:
    """A list that was handed in, what a sub-query found, a hit in the full text: as long as what is asked."""
    return "VIRTUAL TABLE" in line or line.startswith(("SCAN (subquery", "SCAN CONSTANT ROW"))


def _bindings(statement: str) -> dict[str, None] | tuple[None, ...]:
    """Something for every parameter; what it is, a query plan does not ask."""
    if named := re.findall(r":(\w+)", statement):
        return dict.fromkeys(named)
    numbers = [int(number) for number in re.findall(r"\?(\d+)", statement)]
    return (None,) * (max(numbers) if numbers else statement.count("?"))


def test_a_statement_nobody_wrote_is_an_error() -> None:
    with pytest.raises(AttributeError, match="no statement named nonsense"):
        _ = LOAD.nonsense
