"""Run one program inside bounds: time, output, processes, memory; and end all of it, whatever it started.

Above: shell.py says what to run. Below: launch.py, which sets what the kernel can hold.
Not here: walls (sandbox.py), words (output.py). Inside the sandbox the end is certain: the program's process
namespace dies with its first process. Without it launch.py takes along all it can see.
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, STDOUT, Process
from collections.abc import Awaitable, Mapping
from enum import Enum
from pathlib import Path
from typing import Final

from msgspec import Struct

from moot.tools import launch

_MIB: Final = 1024 * 1024
_LOOK_SECONDS: Final = 0.1
_FIRST_LOOK_SECONDS: Final = 0.02
_LAST_WAIT_SECONDS: Final = 5.0
_CHUNK: Final = 64 * 1024
_PAGE: Final = os.sysconf("SC_PAGE_SIZE")


class Bounds(Struct, frozen=True):
    """How much one call may use. Memory counts for each process and for all of them together."""

    seconds: float = 60.0
    grace_seconds: float = 2.0
    """Between being asked to end and being ended."""
    output_bytes: int = 64 * 1024
    flood_bytes: int = 64 * _MIB
    """Output past the cap is thrown away; past this the program is stopped."""
    cpu_seconds: int = 60
    memory_bytes: int = 4096 * _MIB
    file_bytes: int = 256 * _MIB
    scratch_bytes: int = 256 * _MIB
    """What `/tmp` holds inside the sandbox."""
    open_files: int = 1024
    processes: int = 128

    def rlimits(self) -> dict[str, int]:
        return {
            "CPU": self.cpu_seconds,
            "AS": self.memory_bytes,
            "FSIZE": self.file_bytes,
            "NOFILE": self.open_files,
            "CORE": 0,
        }


USUAL: Final = Bounds()


class ProgramEnding(Enum):
    EXITED = "exited"
    TIME = "time"
    PROCESSES = "processes"
    MEMORY = "memory"
    OUTPUT = "output"


class Ran(Struct, frozen=True):
    """How a run went. `code` is negative, or above 128, where a signal ended it; 0 says nothing if it was stopped."""

    ending: ProgramEnding
    code: int
    output: bytes
    cut: int
    """Bytes of output that were not kept."""


class Program(Struct, frozen=True):
    """What is run: the first word is an absolute path. `fds` stay open for it."""

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str]
    fds: tuple[int, ...] = ()
    supervised: bool = False
    """No sandbox ends what it leaves running, so launch.py does."""


async def run(program: Program, bounds: Bounds) -> Ran:
    """Run to the end, or to the first bound. Cancelling ends the program before it returns."""
    terms = {"parent": os.getpid(), "rlimits": bounds.rlimits(), "supervise": program.supervised}
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-I", "-S", launch.__file__, json.dumps(terms), *program.argv),
        stdin=DEVNULL,
        stdout=PIPE,
        stderr=STDOUT,
        cwd=program.cwd,
        env=dict(program.environment),
        pass_fds=program.fds,
        start_new_session=True,
    )
    kept = _Kept(bounds)
    reader = asyncio.create_task(kept.read(process.stdout))
    ending: ProgramEnding | None = None
    try:
        ending = await _watch(process, kept, bounds)
    finally:
        # Whoever cancels waits for this: it is bounded by grace_seconds and _LAST_WAIT_SECONDS.
        # What takes more than its share is not asked first: meanwhile it would take more.
        await _unhurried(_end(process, reader, bounds, gently=ending in (None, ProgramEnding.TIME)))
    return Ran(ending, process.returncode or 0, bytes(kept.output), kept.cut)


async def _watch(process: Process, kept: "_Kept", bounds: Bounds) -> ProgramEnding:
    """Wait for the end and look now and then at what the kernel does not limit for us."""
    deadline = asyncio.get_running_loop().time() + bounds.seconds
    exited = asyncio.ensure_future(process.wait())
    pause = _FIRST_LOOK_SECONDS
    try:
        while True:
            left = deadline - asyncio.get_running_loop().time()
            if left <= 0:
                return ProgramEnding.TIME
            await asyncio.wait({exited}, timeout=min(left, pause))
            pause = min(pause * 1.2, _LOOK_SECONDS)
            if exited.done():
                return ProgramEnding.EXITED
            if (over := kept.over() or _over(process.pid, bounds)) is not None:
                return over
    finally:
        exited.cancel()


def _over(pid: int, bounds: Bounds) -> ProgramEnding | None:
    """A user's limit on processes binds everybody but root, and no limit of a process binds the sum."""
    family = launch.descendants(pid, bounds.processes)
    if len(family) > bounds.processes:
        return ProgramEnding.PROCESSES
    memory = 0
    for member in family:
        with contextlib.suppress(OSError, IndexError, ValueError):
            memory += int(Path(f"/proc/{member}/statm").read_text(encoding="ascii").split()[1]) * _PAGE
    return ProgramEnding.MEMORY if memory > bounds.memory_bytes else None


class _Kept:
    """The start of the output; the rest is read, counted and dropped, so that the program never waits for us."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self.output = bytearray()
        self.cut = 0

    async def read(self, stream: asyncio.StreamReader | None) -> None:
        assert stream is not None
        while chunk := await stream.read(_CHUNK):
            room = self.bounds.output_bytes - len(self.output)
            self.output += chunk[:room]
            self.cut += max(0, len(chunk) - room)

    def over(self) -> ProgramEnding | None:
        return ProgramEnding.OUTPUT if self.cut > self.bounds.flood_bytes else None


async def _end(process: Process, reader: "asyncio.Task[None]", bounds: Bounds, *, gently: bool) -> None:
    """TERM to what the program is, then KILL to all there is, and wait until it is gone and read."""
    family: list[int] = []
    if gently and process.returncode is None:
        launch.kill_all(launch.descendants(process.pid), signal.SIGTERM)
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(process.wait(), bounds.grace_seconds)
    if process.returncode is None:  # once it is waited for, its number may be somebody else's
        # Its children first: one of them is the sandbox's first process, and all others end with that one.
        launch.kill_all(launch.descendants(process.pid, 1), signal.SIGKILL)
        family = launch.descendants(process.pid)
        launch.kill_all(family, signal.SIGKILL)
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(process.pid, signal.SIGKILL)
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(_LAST_WAIT_SECONDS):
            await process.wait()
            await reader
            while _alive(family):  # noqa: ASYNC110 - the kernel sends no event for other people's children
                await asyncio.sleep(_LOOK_SECONDS / 10)
    reader.cancel()
    _close(process)


def _alive(family: list[int]) -> bool:
    return any(os.path.exists(f"/proc/{pid}") for pid in family)


async def _unhurried(ending: Awaitable[None]) -> None:
    """Finish even if we are cancelled meanwhile, then let the cancellation through."""
    task = asyncio.ensure_future(ending)
    cancelled: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.shield(task)
        except asyncio.CancelledError as again:
            cancelled = again
    task.result()
    if cancelled is not None:
        raise cancelled


def _close(process: Process) -> None:
    transport = getattr(
        process, "_transport", None
    )  # a pipe that somebody still holds must not stay open here
    if transport is not None:
        transport.close()
