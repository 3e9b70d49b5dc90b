"""Locks on project folders: agents that may change files take turns in a folder, across processes.

Two agents in one checkout undo each other's work. An agent started by another one gets a checkout of its own
(hub/process/worktrees.py); agents that moot.toml puts into the same folder wait for each other.

Above: command_brain.py. Below: one lock file per folder, in the home's run folder. The kernel releases it when its
process ends, however that happens.
"""

import asyncio
import fcntl
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from hashlib import blake2b
from pathlib import Path
from typing import Final, TypeAlias

LOOK_SECONDS: Final = 1.0
"""Between two looks at a folder in which another agent works."""

OnWait: TypeAlias = Callable[[str], Awaitable[None]]
"""Called repeatedly while an agent waits, with what it waits for."""


class ProjectLocks:
    """The locks of one home."""

    def __init__(self, run_folder: Path) -> None:
        self._run_folder = run_folder
        self._locks: dict[Path, asyncio.Lock] = {}

    @asynccontextmanager
    async def alone_in(self, project: Path, on_wait: OnWait) -> AsyncIterator[None]:
        """While it is held, no other agent of this home changes files in the folder."""
        reason = f"another agent that works in {project}"
        lock = self._locks.setdefault(project, asyncio.Lock())
        await _acquire(lock, lambda: on_wait(reason))
        try:
            file = self._open_lock_file(project)
            try:
                while not _try_lock(file):
                    await on_wait(reason)
                    await asyncio.sleep(LOOK_SECONDS)
                yield
            finally:
                os.close(file)
        finally:
            lock.release()

    def _open_lock_file(self, project: Path) -> int:
        self._run_folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        name = blake2b(os.fsencode(project), digest_size=12).hexdigest()
        return os.open(
            self._run_folder / f"{name}.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600
        )


def _try_lock(file: int) -> bool:
    """Take the lock; False if another process holds it."""
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


async def _acquire(lock: asyncio.Lock, on_wait: Callable[[], Awaitable[None]]) -> None:
    """Take the lock, first come first served."""
    acquiring = asyncio.ensure_future(lock.acquire())
    try:
        while not (await asyncio.wait({acquiring}, timeout=LOOK_SECONDS))[0]:
            await on_wait()
    except BaseException:  # cancelled, or the turn is not there any more: somebody else is next
        acquiring.cancel()
        if acquiring.done() and not acquiring.cancelled():
            lock.release()
        raise
