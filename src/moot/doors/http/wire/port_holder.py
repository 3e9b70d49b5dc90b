"""Which program listens on a port of this machine, where the kernel tells (Linux).

Above: listener.py, when it cannot listen there, and `moot doctor`. Below: /proc.
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

from msgspec import Struct

LISTENING: Final = "0A"
TABLES: Final = ("net/tcp", "net/tcp6")
STATE, INODE = 3, 9
"""Columns of a table, behind its own number."""


class PortHolder(Struct, frozen=True):
    name: str
    pid: int


def holder_of(port: int, proc: Path = Path("/proc")) -> PortHolder | None:
    """None if nobody listens, or if this user may not see who."""
    sockets = {f"socket:[{inode}]" for table in TABLES for inode in _listening(proc / table, port)}
    if not sockets:
        return None
    for folder in proc.glob("[0-9]*"):
        with suppress(OSError):  # processes end, and those of others are closed to us
            if any(os.readlink(file) in sockets for file in (folder / "fd").iterdir()):
                return PortHolder((folder / "comm").read_text().strip(), int(folder.name))
    return None


def _listening(table: Path, port: int) -> list[str]:
    try:
        rows = [line.split() for line in table.read_text().splitlines()[1:]]
    except OSError:
        return []
    return [row[INODE] for row in rows if row[STATE] == LISTENING and row[1].endswith(f":{port:04X}")]
