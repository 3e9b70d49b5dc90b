"""A PostgreSQL server for the tests of this process: started when the first one asks for it, gone with the process.

Each worker of a run has its own, so that nothing one does is seen by another; in between a database is emptied, which
is quicker than making one.
"""

import atexit
from functools import cache

import asyncpg

from tests.support.processes import NIGHTLY
from tools.postgres_server import PostgresServer, debian_binaries

EMPTY = """
DO $$ DECLARE one record; BEGIN
    FOR one IN SELECT schemaname, tablename FROM pg_tables WHERE schemaname = 'moot'
               AND tablename NOT IN ('schema_version', 'counters', 'instance') LOOP
        EXECUTE format('DELETE FROM %I.%I', one.schemaname, one.tablename);
    END LOOP;
    IF to_regclass('moot.counters') IS NOT NULL THEN
        UPDATE moot.counters SET value = 0 WHERE name IN ('horizon');
    END IF;
END $$
"""


@cache
def server() -> PostgresServer:
    """The one of this process."""
    oldest = (
        debian_binaries() if NIGHTLY else None
    )  # the version that is needed at least, where it is installed
    started = PostgresServer(binaries=oldest).start()
    atexit.register(started.remove)
    return started


async def empty_database() -> str:
    """The address of a database in which nothing was said yet."""
    url = server().url()
    connection = await asyncpg.connect(url)
    try:
        await connection.execute(EMPTY)
    finally:
        await connection.close()
    return url


async def emptied() -> str:
    """The address of a database in which not even tables are."""
    url = server().url()
    connection = await asyncpg.connect(url)
    try:
        await connection.execute("DROP SCHEMA IF EXISTS moot CASCADE")
    finally:
        await connection.close()
    return url
