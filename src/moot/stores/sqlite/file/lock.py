"""The writers' queue: several processes write to one home, each for the length of a batch.

The kernel wakes those who wait for a `flock` in turn; SQLite's own busy handler polls and starves somebody.
"""

import fcntl
import os
import threading
import time
from pathlib import Path

from msgspec import json

from moot import files
from moot.errors import StoreUnwritable
from moot.model.hint import Act, Hint

PATIENCE_SECONDS = 10.0
"""A batch takes milliseconds: a process that holds the lock for this long is stuck."""
QUEUE_SECONDS = 300.0
"""The longest wait while others make progress: hundreds of processes on a small machine take their time."""
MAX_NOTED = 4096
"""Bytes; three names and numbers take about a hundred."""


class WriterLock:
    """Held by at most one writer of a home. `take` and `give` are called from one thread."""

    def __init__(self, path: Path, patience: float = PATIENCE_SECONDS) -> None:
        self._path = path
        self._patience = patience
        self._file = files.open_private(path, os.O_RDWR | os.O_CREAT)

    def take(self) -> None:
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self._wait()
        os.utime(self._file)  # who waits sees that the queue moves

    def give(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_UN)

    def close(self) -> None:
        os.close(self._file)

    def _wait(self) -> None:
        """Stand in the kernel's queue, but not for ever: as long as others get on, and no longer than one may be stuck.
        Waiting has no time limit of its own, so a second thread waits with a file of its own and hands it over; when
        it is no longer wanted it lets go."""
        waiting = _Waiting(self._path)
        end = time.monotonic() + QUEUE_SECONDS
        seen = self._last_taken()
        while not waiting.is_taken(self._patience) and seen != self._last_taken() and time.monotonic() < end:
            seen = self._last_taken()
        found = waiting.result()
        if found is None:
            raise StoreUnwritable(
                f"another process has held {self._path} for {self._patience:g} s",
                detail="it may be stopped or stuck",
                fix=(Hint(Act.RUN_DOCTOR),),
                retry_after_ms=1000,
            )
        os.close(self._file)
        self._file = found

    def _last_taken(self) -> int:
        return os.fstat(self._file).st_mtime_ns


class OpenMark:
    """Held, together with others, for as long as a process has the database open to write. In it stands which files
    those are. Setting and asking are done by one process at a time, who has the writers' lock."""

    def __init__(self, path: Path) -> None:
        self._file = files.open_private(path, os.O_RDWR | os.O_CREAT)

    def others(self) -> bool:
        """Whether somebody else has it open. Asked before one's own mark is set."""
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
        fcntl.flock(self._file, fcntl.LOCK_UN)
        return False

    def share(self, numbers: dict[str, int]) -> None:
        if not self.others():  # else they have noted the same
            os.ftruncate(self._file, 0)
            os.pwrite(self._file, json.encode(numbers), 0)
        fcntl.flock(self._file, fcntl.LOCK_SH)

    def noted(self) -> dict[str, int]:
        """The files that whoever has it open had opened, by their numbers."""
        return json.decode(os.pread(self._file, MAX_NOTED, 0), type=dict[str, int])

    def close(self) -> None:
        """Before the database itself is closed: whoever closes it last takes its log away."""
        os.close(self._file)


class _Waiting:
    def __init__(self, path: Path) -> None:
        self._file = files.open_private(path, os.O_RDWR | os.O_CREAT)
        self._guard = threading.Lock()
        self._taken = threading.Event()
        self._given_up = False
        threading.Thread(target=self._stand, name="moot-writer-queue", daemon=True).start()

    def _stand(self) -> None:
        fcntl.flock(self._file, fcntl.LOCK_EX)
        with self._guard:
            if self._given_up:
                os.close(self._file)
            self._taken.set()

    def is_taken(self, patience: float) -> bool:
        return self._taken.wait(patience)

    def result(self) -> int | None:
        """The locked file; None where it is not taken by now, and no longer wanted."""
        with self._guard:
            self._given_up = not self._taken.is_set()
        return None if self._given_up else self._file
