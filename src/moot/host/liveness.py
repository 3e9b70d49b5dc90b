"""Whether another process of this machine is still there."""

import os
from pathlib import Path


def is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:  # somebody else's, and alive
        return True
    return not _is_zombie(pid)


def _is_zombie(pid: int) -> bool:
    """Dead, but not reaped by its parent: in many containers nobody ever does that."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return False
    return stat.rpartition(")")[2].split()[:1] == ["Z"]
