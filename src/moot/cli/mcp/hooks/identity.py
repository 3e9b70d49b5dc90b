"""Which agent a session is, from inside one of its hooks: the agent whose server the same program started."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from moot.shapes import Arrival

MAX_DEPTH = 32


def session_agent(arrivals: Sequence[Arrival]) -> str | None:
    """The agent, among those that came from this client and folder; None if it is not certain, so that no session gets
    another's messages. A session without our server could not answer, and is no agent.
    """
    above = frozenset(_above(os.getpid()))
    beside = [each.name for each in arrivals if each.pid and _parent(each.pid) in above]
    return beside[0] if len(beside) == 1 else None


def _above(pid: int) -> Iterator[int]:
    """The processes a process runs below, nearest first; without the one that adopts orphans."""
    for _ in range(MAX_DEPTH):
        pid = _parent(pid)
        if pid <= 1:
            return
        yield pid


def _parent(pid: int) -> int:
    """0 if it is unknown or the process is gone."""
    if pid == os.getpid():
        return os.getppid()
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[1])
    except FileNotFoundError:
        return _parent_by_ps(pid) if not Path("/proc/self").exists() else 0
    except (OSError, ValueError, IndexError):
        return 0


def _parent_by_ps(pid: int) -> int:
    """Where there is no /proc."""
    try:
        printed = subprocess.run(
            ("ps", "-o", "ppid=", "-p", str(pid)), capture_output=True, text=True, timeout=2, check=False
        ).stdout
        return int(printed.strip() or 0)
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0
