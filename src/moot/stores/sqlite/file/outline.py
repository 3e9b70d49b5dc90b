"""What the schema of each version consists of, and what a file has besides it or lacks.

A database from elsewhere could bring triggers, views and tables of its own, which would act in our name when it is
written to. So what it consists of is compared with what the shipped migrations make, object by object.
"""

import re
from functools import cache
from pathlib import Path

import apsw

from moot.stores.sqlite.file.migrate import apply, shipped
from moot.stores.sqlite.file.untrusted import distrust
from moot.stores.sqlite.statements import SCHEMA

Outline = dict[tuple[str, str], str]
"""Type and name of an object, and how it is written."""

_SPACE = re.compile(r"\s+")
_STATISTICS = re.compile(r"sqlite_stat\d")
SEARCH_INDEX = "message_words"


def differences(connection: apsw.Connection, version: int) -> list[str]:
    """How a file's schema differs from that of its version; versions we do not know are not compared."""
    if version > shipped()[-1].number:
        return []
    ours, found = _shipped(version), _outline(connection)
    wrong = [
        f"it has the {kind} {name}, which is not Moot's" for kind, name in sorted(found.keys() - ours.keys())
    ]
    wrong += [f"the {kind} {name} is missing" for kind, name in sorted(ours.keys() - found.keys())]
    other = sorted(each for each in ours.keys() & found.keys() if found[each] != ours[each])
    return wrong + [f"the {kind} {name} was altered" for kind, name in other]


def is_as_made(path: Path) -> bool:
    """Whether a file has exactly the schema of its version; False where it does not name one. A missing file has no
    differences."""
    if not path.exists():
        return True
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            distrust(connection)
            version, *_ = connection.execute(SCHEMA.newest).fetchone() or (0,)
            return not differences(connection, version)
        finally:
            connection.close()
    except (apsw.Error, UnicodeDecodeError, TypeError):
        return False


@cache
def _shipped(version: int) -> Outline:
    connection = apsw.Connection(":memory:")
    try:
        apply(connection, shipped()[:version])
        return _outline(connection)
    finally:
        connection.close()


def _outline(connection: apsw.Connection) -> Outline:
    """Tables that the full-text index keeps for itself count by their name: how it writes them is SQLite's affair."""
    found: Outline = {}
    for kind, name, written in connection.execute(SCHEMA.outline):
        if not _STATISTICS.fullmatch(name):
            own = not name.startswith(f"{SEARCH_INDEX}_")
            found[kind, name] = _SPACE.sub(" ", written or "").strip() if own else ""
    return found
