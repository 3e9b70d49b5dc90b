"""New databases for tests: the schema is made once in a process, by its migrations, and copied from then on.

Nearly every test has a home of its own, and making its schema step by step took half of what it takes to open one.
Copied are the pages of a whole and empty database; what is drawn by chance for each is drawn anew. Whatever else is to
be migrated takes its steps.
"""

from functools import cache
from threading import Lock

import apsw

from moot.stores.sqlite.file import migrate

apply_steps = migrate.apply
ONE_AT_A_TIME = Lock()
"""Homes are opened in threads, and a connection is for one of them."""


@cache
def template(steps: tuple[migrate.Migration, ...]) -> apsw.Connection:
    made = apsw.Connection(":memory:")
    apply_steps(made, steps)
    return made


def applied(connection: apsw.Connection, steps: tuple[migrate.Migration, ...]) -> None:
    is_empty = connection.execute("SELECT count(*) FROM sqlite_schema").get == 0
    if not is_empty or steps != migrate.shipped():
        apply_steps(connection, steps)
        return
    with ONE_AT_A_TIME, connection.backup("main", template(steps), "main") as copying:
        copying.step()
    connection.execute("UPDATE instance SET value = lower(hex(randomblob(length(value) / 2)))")


def copy_fresh_schema() -> None:
    migrate.apply = applied
