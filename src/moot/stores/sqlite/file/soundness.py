"""Reading everything of a file: its pages, and what stores/soundness.py reads of any store, all seen at one moment.

Above: `moot doctor` (store.py) reads a database in use, copies.py one that nobody has open. A damaged text is read as
bytes, so that it is told of instead of stopping the reading.
"""

from collections.abc import Iterator, Mapping
from typing import Any

import apsw
from msgspec import structs

from moot.ports import AuditReport
from moot.rules.audit import KnownHead
from moot.stores.soundness import MAX_PROBLEMS, Progress, Soundness
from moot.stores.sqlite.file import outline
from moot.stores.sqlite.statements import READ, RECORDS, SCHEMA, SOUND


def read_all(connection: apsw.Connection) -> tuple[int, list[str]]:
    """How many messages there are, and what is wrong; all of it seen at one moment."""
    report = verify(connection, {})
    return report.messages, list(report.problems)


def verify(
    connection: apsw.Connection,
    heads: Mapping[str, KnownHead],
    progress: Progress = lambda messages: None,
) -> AuditReport:
    """Everything, compared with where chains stood once; all of it seen at one moment."""
    connection.execute("BEGIN")
    try:
        verdicts = [str(text) for (text,) in connection.execute("PRAGMA integrity_check")]
        problems = [text for text in verdicts if text != "ok"]
        version, *_ = connection.execute(SCHEMA.newest).fetchone() or (0,)
        problems += outline.differences(connection, version)
        report = Soundness(FileRows(connection), heads, progress).whole()
        messages = int(connection.execute(READ.count_messages).get)
        found = (*problems, *report.problems)[:MAX_PROBLEMS]
        return structs.replace(report, messages=messages, problems=found)
    finally:
        connection.execute("ROLLBACK")


class FileRows:
    """Rows as they are read from a file."""

    unreadable: tuple[type[Exception], ...] = (apsw.Error, UnicodeDecodeError)

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection

    def found(self, name: str, *values: str) -> Iterator[tuple[Any, ...]]:
        whole = RECORDS.get(name) if not values else None
        statement = SOUND.all()[name] if whole is None else whole.every
        yield from self._connection.execute(statement, values)
