"""How long a page and its hub take, on a machine whose cores others may take meanwhile.

What is promised is what they need: the time in which a thread of theirs could have run and had no processor belongs to
whoever had it. What they cannot get below is the processor time that they used. A machine can hold them up in other
ways too, so the least disturbed of a few tries says what the page can; on a quiet machine that is the first.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

TRIES = 5


def descendants(process: int) -> Iterator[int]:
    """A process and everything that it started: here the hub, the browser, and a process for each of its pages."""
    yield process
    with suppress(OSError):
        for file in Path(f"/proc/{process}/task").glob("*/children"):
            for child in file.read_text().split():
                yield from descendants(int(child))


def processor_times() -> dict[int, tuple[float, float]]:
    """Seconds that the first thread of each has run, and waited for a processor: it does what others wait for."""
    found = {}
    for process in descendants(os.getpid()):
        with suppress(OSError, ValueError):  # it has ended meanwhile
            ran, waited, *_ = (int(word) for word in Path(f"/proc/{process}/schedstat").read_text().split())
            found[process] = ran / 1e9, waited / 1e9
    return found


class Clock:
    """Started when it is made."""

    def __init__(self) -> None:
        self._before = processor_times()
        self._began = time.perf_counter()

    def seconds(self, passed: float) -> float:
        """That something took which passed for so long while the clock ran. A part of what was waited for fell into
        it: as much as it is of the whole."""
        whole = time.perf_counter() - self._began
        spent = [
            (ran - before[0], waited - before[1])
            for process, (ran, waited) in processor_times().items()
            if (before := self._before.get(process)) is not None
        ]
        share = min(1.0, max(0.0, passed) / whole)
        ran, waited = (
            max((one[0] for one in spent), default=0.0) * share,
            sum(one[1] for one in spent) * share,
        )
        return min(passed, max(ran, passed - waited))


def measured(take: Callable[[], float]) -> float:
    """The same, of what tells its own seconds."""
    clock = Clock()
    return clock.seconds(take())


def best(most: float, series: Callable[[], float]) -> float:
    """The first of a few tries that is good enough, or the best of them."""
    found = float("inf")
    for _ in range(TRIES):
        found = min(found, series())
        if found <= most:
            break
    return found
