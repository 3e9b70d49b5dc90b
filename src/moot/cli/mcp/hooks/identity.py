"""Which agent a session is, seen from one of its hooks: the one whose server was started by the same program."""

import os
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path

from moot.shapes import Arrival

DEEPEST = 32


def mine(came: Sequence[Arrival]) -> str | None:
    """Out of those that came from this client and folder; None where it cannot be told: nobody gets another's mail.

    A session without a server of ours could not answer, and is nobody.
    """
    above = frozenset(_above(os.getpid()))
    beside = [each.name for each in came if each.pid and _parent(each.pid) in above]
    return beside[0] if len(beside) == 1 else None


def _above(pid: int) -> Iterator[int]:
    """The processes a process runs below, nearest first; without the one that adopts orphans."""
    for _ in range(DEEPEST):
        pid = _parent(pid)
        if pid <= 1:
            return
        yield pid


def _parent(pid: int) -> int:
    """0 where it cannot be told, or the process is gone."""
    if pid == os.getpid():
        return os.getppid()
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return int(stat.rpartition(")")[2].split()[1])
    except FileNotFoundError:
        return _asked_for(pid) if not Path("/proc/self").exists() else 0
    except (OSError, ValueError, IndexError):
        return 0


def _asked_for(pid: int) -> int:
    """Where there is no /proc."""
    try:
        printed = subprocess.run(
            ("ps", "-o", "ppid=", "-p", str(pid)), capture_output=True, text=True, timeout=2, check=False
        ).stdout
        return int(printed.strip() or 0)
    except (OSError, ValueError, subprocess.SubprocessError):
        return 0
