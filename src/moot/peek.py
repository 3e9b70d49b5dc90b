"""Quick looks at a home, for completion and hooks, which must answer in milliseconds.

The composition root of those who cannot wait for wiring.py: here too it is known which store a home has. Below:
a store's own peek module, which imports next to nothing. A database server cannot be asked in that time: then there is
nothing to see, and whoever must know asks the hub.
"""

import os
from pathlib import Path

from moot.stores.sqlite import peek as sqlite

__all__ = ["agent_names", "anything_to_do", "conversation_names", "is_there", "note_names"]

SERVERS = ("postgresql:", "postgres:")


def _is_elsewhere(home: Path) -> bool:
    """Whether the settings speak of a database server. A file that lies here then may be one from before."""
    try:
        written = (home / "moot.toml").read_text(encoding="utf-8", errors="replace")
    except OSError:
        written = ""
    spoken = f"{os.environ.get('MOOT_STORE__URL', '')} {written}"
    return any(server in spoken for server in SERVERS) or ("${" in written and "[store]" in written)


def is_there(home: Path) -> bool:
    return _is_elsewhere(home) or sqlite.is_there(home)


def agent_names(home: Path) -> list[str]:
    """Those of late first; none where the database cannot be read just now."""
    return [] if _is_elsewhere(home) else sqlite.agent_names(home)


def conversation_names(home: Path) -> list[str]:
    return [] if _is_elsewhere(home) else sqlite.conversation_names(home)


def note_names(home: Path) -> list[str]:
    return [] if _is_elsewhere(home) else sqlite.note_names(home)


def anything_to_do(home: Path, *, client: str, folder: str, name: str) -> bool:
    """Whether a turn is open for a session, or nobody knows yet that it has hooks. Yes where it cannot look."""
    return _is_elsewhere(home) or sqlite.anything_to_do(home, client=client, folder=folder, name=name)
