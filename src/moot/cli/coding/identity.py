"""Which agent a session of a client is, seen from a hook: the one whose server the same program has started."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from moot.host.processes import is_alive
from moot.shapes import Arrival

DEEPEST = 32


def mine(came: Sequence[Arrival]) -> str | None:
    """Out of those that came from this client and folder, first come first.

    A server that runs below the same program is this session's. Where none runs yet, whoever is not taken by another
    session will be it: the server goes by the same rule when it arrives.
    """
    above = frozenset(_above(os.getpid()))
    alive = {each.pid: each for each in came if each.pid and is_alive(each.pid)}
    for pid, each in alive.items():
        if _parent(pid) in above:
            return each.name
    return next((each.name for each in came if each.pid not in alive), None)


def _above(pid: int) -> Iterator[int]:
    """The processes a process runs below, nearest first; without the one that adopts orphans."""
    for _ in range(DEEPEST):
        pid = _parent(pid)
        if pid <= 1:
            return
        yield pid


def _parent(pid: int) -> int:
    """0 where it cannot be told."""
    if pid == os.getpid():
        return os.getppid()
    try:
        told = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(told.rpartition(")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        pass
    try:
        told = subprocess.run(
            ("ps", "-o", "ppid=", "-p", str(pid)), capture_output=True, text=True, timeout=2, check=False
        ).stdout
        return int(told.strip() or 0)
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0
