"""Quick looks at a database without opening a store on it, for callers to whom milliseconds matter.

They run beside whoever writes, and create nothing. This module imports next to nothing. Above: moot/peek.py.
"""

import time
from pathlib import Path
from typing import Any, Final

MAX_NAMES: Final = 200
KEYSTROKE_MS, HOOK_MS = 20, 50
"""How long to wait for a database that is locked for a moment."""
SOON_SECONDS: Final = 15.0
"""A sign of life that is good for less than this is renewed."""
AGENTS: Final = (
    "SELECT name FROM registry WHERE kind IN ('agent', 'external') AND removed_at = 0"
    " ORDER BY last_active DESC LIMIT ?"
)
CONVERSATIONS: Final = (
    "SELECT name FROM conversations WHERE archived = 0 AND kind <> 'ephemeral'"
    " ORDER BY updated_at DESC LIMIT ?"
)
NOTES: Final = "SELECT name FROM notes ORDER BY updated_us DESC LIMIT ?"
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


def file_of(home: Path) -> Path:
    """The database of a home, whether it is there or not."""
    return home / "moot.db"


def is_there(home: Path) -> bool:
    return file_of(home).exists()


def agent_names(home: Path) -> list[str]:
    """Names of agents, the most recently active first; none where the database cannot be read just now."""
    return [str(name) for (name,) in _rows(home, AGENTS, (MAX_NAMES,), KEYSTROKE_MS) or ()]


def conversation_names(home: Path) -> list[str]:
    return [str(name) for (name,) in _rows(home, CONVERSATIONS, (MAX_NAMES,), KEYSTROKE_MS) or ()]


def note_names(home: Path) -> list[str]:
    return [str(name) for (name,) in _rows(home, NOTES, (MAX_NAMES,), KEYSTROKE_MS) or ()]


def anything_to_do(home: Path, *, client: str, folder: str, name: str) -> bool:
    """Whether a turn is open for a session, or nobody knows yet that it has hooks. Yes where it cannot look."""
    parameters = {"client": client, "folder": folder, "name": name, "soon": time.time() + SOON_SECONDS}
    found = _rows(home, ANYTHING_TO_DO, parameters, HOOK_MS)
    return found is None or bool(found[0][0])


def _rows(home: Path, statement: str, values: Any, busy_ms: int) -> list[tuple[Any, ...]] | None:
    if not is_there(home):
        return None
    import apsw  # noqa: PLC0415  not needed where there is nothing to look at

    try:
        connection = apsw.Connection(str(file_of(home)), flags=apsw.SQLITE_OPEN_READONLY)
        try:
            connection.set_busy_timeout(busy_ms)
            return connection.execute(statement, values).fetchall()
        finally:
            connection.close()
    except apsw.Error:
        return None
