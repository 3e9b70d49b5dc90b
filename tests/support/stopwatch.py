"""How long something takes on a machine whose cores others may have meanwhile.

What is promised is what the product needs. A stopwatch leaves out time in which a thread of the processes that it
watches could have run and had no processor, as far as others had it: on a quiet machine it leaves out nothing. Waiting
for anything else, be it a lock, a disk, a sleep or a thread of their own, is counted in full, and so is computing.
"""

from __future__ import annotations

import os
import resource
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

TRIES = 5
QUIET_SHARE = 0.1
"""Of one processor: what others may use of it while something is measured, and the machine is called quiet."""
TICKS = os.sysconf("SC_CLK_TCK")


class Usage(NamedTuple):
    """Seconds of processors, while something was measured."""

    waited: float
    """In which what is watched could have run, and had no processor."""
    others_ran: float

    @property
    def starved(self) -> float:
        """That the machine surely took from what was measured."""
        return min(self.waited, self.others_ran)


class Stopwatch:
    """Runs from the moment in which it is made: for this process and everything that it started.

    Threads wait beside each other, so that only the one is counted that waited longest. Processes that are named take
    turns with the rest, as a program does with whoever types into it: what each of them waited is added."""

    def __init__(self, *processes: int) -> None:
        self._processes = (os.getpid(), *processes)
        self._before = Reading(self._processes)
        self._began = time.perf_counter()

    def seconds(self) -> float:
        """That count until now."""
        passed, used = self._read()
        return passed - used.starved

    def is_over(self, seconds: float) -> bool:
        """Whether more than so many count; asked often, it reads nothing before so many have passed."""
        return time.perf_counter() - self._began > seconds and self.seconds() > seconds

    def seconds_of(self, passed: float) -> float:
        """Of so many that passed while it ran, in a browser, say: those that count, in proportion."""
        whole, used = self._read()
        return passed * (1.0 - used.starved / whole)

    @property
    def is_quiet(self) -> bool:
        """Whether the machine has run next to nothing else."""
        passed, used = self._read()
        return used.others_ran <= QUIET_SHARE * passed

    def _read(self) -> tuple[float, Usage]:
        passed = time.perf_counter() - self._began
        return passed, Reading(self._processes).since(self._before)


def best(most: float, take: Callable[[], float]) -> float:
    """What a try says that the machine left alone, which is the first on a quiet one. Of tries that it did not leave
    alone, the first that is good enough, or the best of a few."""
    found = float("inf")
    for _ in range(TRIES):
        watch = Stopwatch()
        taken = take()
        if watch.is_quiet:
            return taken
        found = min(found, taken)
        if found <= most:
            break
    return found


def work_done() -> float:
    """Seconds of processors that processes used which this one has started and waited for. For what ends while it is
    measured: nobody knows then how long it waited."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


class Reading:
    """What the kernel has counted until now, of some processes and of the machine: nothing where it counts nothing."""

    def __init__(self, processes: tuple[int, ...]) -> None:
        watched = {process: root for root in processes for process in descendants(root)}
        self.waits = {
            (root, thread): seconds for process, root in watched.items() for thread, seconds in waits(process)
        }
        self.others = machine_seconds() - sum(processor_seconds(process) for process in watched)

    def since(self, before: Reading) -> Usage:
        """Without what has ended: nobody knows how long it waited."""
        longest: dict[int, float] = {}
        for (root, thread), seconds in self.waits.items():
            waited = seconds - before.waits.get((root, thread), 0.0)
            longest[root] = max(waited, longest.get(root, 0.0))
        return Usage(sum(longest.values()), max(0.0, self.others - before.others))


def descendants(process: int) -> Iterator[int]:
    """A process and everything that it started, and what that started."""
    yield process
    for file in Path(f"/proc/{process}/task").glob("*/children"):
        for child in text_of(file).split():
            yield from descendants(int(child))


def waits(process: int) -> Iterator[tuple[str, float]]:
    """Of each of its threads, by its path: seconds since it began in which it could have run, and had no processor."""
    for file in Path(f"/proc/{process}/task").glob("*/schedstat"):
        if counted := [int(word) for word in text_of(file).split()]:
            yield str(file), counted[1] / 1e9


def processor_seconds(process: int) -> float:
    """That a process ran, with its threads and children that have ended."""
    _, _, after_name = text_of(Path(f"/proc/{process}/stat")).rpartition(")")
    return sum(int(word) for word in after_name.split()[11:15]) / TICKS


def machine_seconds() -> float:
    """That the processors were not idle, or were taken from the machine itself."""
    counted = [int(word) for word in text_of(Path("/proc/stat")).split()[1:9]]
    return (sum(counted) - sum(counted[3:5])) / TICKS


def text_of(file: Path) -> str:
    """Empty if it is not there, or belongs to what has ended meanwhile."""
    with suppress(OSError):
        return file.read_text()
    return ""
