"""Measuring what a process takes, and not what the machine gave to others meanwhile."""

import os
import time
from contextlib import suppress
from pathlib import Path


class Clock:
    """How long something takes a process and this one: without the time in which their threads could have run and had
    no processor. At least as long as that process ran."""

    def __init__(self, process: int) -> None:
        self._process = process
        self._began = time.perf_counter()
        self._before = self._counted()

    def _counted(self) -> tuple[float, float]:
        """Seconds that the process ran, and that both waited for a processor."""
        theirs, ours = processor_times(self._process), processor_times(os.getpid())
        return theirs[0], theirs[1] + ours[1]

    def seconds(self) -> float:
        passed = time.perf_counter() - self._began
        ran, waited = (now - then for now, then in zip(self._counted(), self._before, strict=True))
        return max(ran, passed - waited)


def processor_times(process: int) -> tuple[float, float]:
    """Seconds that the threads of a process ran, and waited for a processor; 0 where the kernel does not count them."""
    ran = waited = 0
    for file in Path(f"/proc/{process}/task").glob("*/schedstat"):
        with suppress(OSError):  # the thread has ended meanwhile
            words = file.read_text().split()
            ran, waited = ran + int(words[0]), waited + int(words[1])
    return ran / 1e9, waited / 1e9
