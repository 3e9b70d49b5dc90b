"""A look at the database before a home is opened: most turns end with nothing waiting, and nobody should wait for that.

It reads beside whoever writes, and makes nothing. Where it cannot look it says yes, and the long way finds out.
"""

import time
from pathlib import Path
from typing import Final

import apsw

ANYTHING_TO_DO: Final = """
SELECT EXISTS (
    SELECT 1
    FROM registry who
    WHERE who.kind = 'external'
      AND CASE
          WHEN :name <> '' THEN EXISTS (
              SELECT 1 FROM aliases WHERE aliases.name = :name AND aliases.participant = who.id
          )
          ELSE who.config ->> 'client' = :client AND who.config ->> 'folder' = :folder
      END
      AND (
          who.reach <> 'next-turn'
          OR who.reach_until < :soon
          OR EXISTS (
              SELECT 1 FROM turns
              WHERE turns.agent = who.id AND turns.state IN ('waiting', 'ready', 'held', 'owed', 'running')
          )
      )
)
"""
BUSY_MS: Final = 50
SOON_SECONDS: Final = 15.0
"""A sign of life that is good for less than this is renewed."""


def anything_to_do(database: Path, *, client: str, folder: str, name: str) -> bool:
    """Whether a turn is open for the session, or nobody knows yet that it has hooks."""
    asked = {"client": client, "folder": folder, "name": name, "soon": time.time() + SOON_SECONDS}
    try:
        connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(BUSY_MS)
            return bool(connection.execute(ANYTHING_TO_DO, asked).get)
        finally:
            connection.close()
    except apsw.Error:
        return True
