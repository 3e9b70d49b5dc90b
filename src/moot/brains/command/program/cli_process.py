"""One program under its keeper: lines in, lines out, and an end that includes everything the program started.

Above: the drivers. Below: keeper.py, which watches from outside. The keeper's pid and start time are in a folder of the
home while it runs, so that a later host can end what an earlier one could not (`sweep`). Every process of the program
inherits a mark: if the keeper itself was killed, they are found by it.
"""

import asyncio
import contextlib
import errno
import json
import os
import signal
import sys
import time
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final
from uuid import uuid4

from moot.brains.command.driver import CliDied
from moot.brains.command.program import keeper

MAX_LINE_BYTES: Final = 16 << 20
"""A longer line is dropped."""
MAX_STDERR_BYTES: Final = 64 << 10
GRACE_SECONDS: Final = 3.0
READ_SECONDS: Final = 20.0
"""How long a program may leave its input full."""
_KILL_SECONDS: Final = 3.0
_LOOK_SECONDS: Final = 0.02
_CHUNK_BYTES: Final = 64 << 10
MAX_FILE_BYTES: Final = 8 << 30
MARK: Final = "MOOT_PROCESS"
"""A variable that everything a program starts inherits; its value is unique to that program."""


class CliProcess:
    def __init__(self, process: Process, life: int, mark: str, note: Path | None) -> None:
        self._process = process
        self._life = life
        self._note = note
        self.mark = mark
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._reading_stderr = asyncio.create_task(self._read_stderr())
        self._ending: asyncio.Task[None] | None = None
        self._output_closed = False
        """It has closed its output; its exit code may still be on its way."""
        self.dropped = 0
        """Lines that were too long."""

    @classmethod
    async def start(
        cls,
        argv: list[str],
        *,
        cwd: Path,
        environ: Mapping[str, str],
        run_folder: Path | None = None,
        grace: float = GRACE_SECONDS,
    ) -> "CliProcess":
        watched, life = os.pipe()
        mark = uuid4().hex
        terms = {
            "host": os.getpid(),
            "folder": str(cwd),
            "life": watched,
            "rlimits": {"CORE": 0, "FSIZE": MAX_FILE_BYTES},
            "grace": grace,
        }
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", keeper.__file__, json.dumps(terms), *argv),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=cwd,
                env={**environ, MARK: mark},
                pass_fds=(watched,),
                start_new_session=True,
                limit=_CHUNK_BYTES,
            )
        except OSError as error:
            os.close(life)
            raise CliDied(f"{argv[0]} could not be started: {_start_error(error, cwd)}") from error
        except BaseException:  # cancelled: a process that was just starting ends with its life line
            os.close(life)
            raise
        finally:
            os.close(watched)
        return cls(process, life, mark, _write_note(run_folder, process.pid, mark))

    @property
    def pid(self) -> int:
        """Of the keeper."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None and self._ending is None and not self._output_closed

    @property
    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        return b"".join(self._stderr).decode("utf-8", "replace").strip()

    async def write(self, data: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(data)
            async with asyncio.timeout(READ_SECONDS):
                await stdin.drain()
        except TimeoutError:
            raise CliDied("its program does not read what it is given") from None
        except (ConnectionError, RuntimeError) as gone:
            raise CliDied("its process has ended") from gone

    async def end_input(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            stdin.close()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Its output, as it comes, until it ends."""
        stdout = self._process.stdout
        assert stdout is not None
        while chunk := await stdout.read(_CHUNK_BYTES):
            yield chunk
        self._output_closed = True

    async def lines(self) -> AsyncIterator[bytes]:
        """Its output, line by line; a line of more than `MAX_LINE_BYTES` is dropped."""
        parts: list[bytes] = []
        size, dropping = 0, False
        async for chunk in self.pieces():
            first, *rest = chunk.split(b"\n")
            for number, part in enumerate((first, *rest)):
                if number:
                    if not dropping and parts:
                        yield b"".join(parts)
                    parts, size, dropping = [], 0, False
                size += len(part)
                if size > MAX_LINE_BYTES:
                    self.dropped += not dropping
                    parts, dropping = [], True
                elif part:
                    parts.append(part)
        if parts and not dropping:
            yield b"".join(parts)

    async def exit_code(self) -> int:
        """Waits until the program has ended."""
        return await self._process.wait()

    async def end(self) -> None:
        """End it and everything it has started, politely first. Cancelling the caller does not stop this."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._end())
        await asyncio.shield(self._ending)

    async def _end(self) -> None:
        process = self._process
        if process.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(
                    process.pid, signal.SIGTERM
                )  # its own `send_signal` would take the exit code from asyncio
            await self._wait_for_exit(GRACE_SECONDS + _KILL_SECONDS)
        if process.returncode is None:
            _kill(*keeper.descendants(process.pid), process.pid)
            await self._wait_for_exit(_KILL_SECONDS)
        if (
            process.returncode is None or process.returncode < 0
        ):  # the keeper was killed and could not end the rest
            await asyncio.to_thread(_end_marked, self.mark)
        os.close(self._life)
        self._reading_stderr.cancel()
        transport = getattr(
            process, "_transport", None
        )  # a pipe that somebody still holds must not stay open here
        if transport is not None:
            transport.close()
        if self._note is not None:
            self._note.unlink(missing_ok=True)

    async def _wait_for_exit(self, seconds: float) -> None:
        """At most so many seconds. asyncio's own `wait` would also wait until somebody has read its output."""
        loop = asyncio.get_running_loop()
        until = loop.time() + seconds
        while self._process.returncode is None and loop.time() < until:  # noqa: ASYNC110  nothing else tells it
            await asyncio.sleep(_LOOK_SECONDS)

    async def _read_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while chunk := await stderr.read(_CHUNK_BYTES):
            self._stderr.append(chunk)
            self._stderr_size += len(chunk)
            while self._stderr_size > MAX_STDERR_BYTES:
                self._stderr_size -= len(self._stderr.popleft())


def started_at(pid: int) -> str:
    """When a process began, as the kernel counts it; empty if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def _start_error(error: OSError, cwd: Path) -> str:
    if not cwd.is_dir():
        return f"its folder {cwd} is not there"
    if error.errno == errno.E2BIG:
        return "what it is given does not fit on a command line; leave {prompt} out, and it reads it from its input"
    return error.strerror or str(error)


def _write_note(folder: Path | None, pid: int, mark: str) -> Path | None:
    if folder is None:
        return None
    folder.mkdir(mode=0o700, exist_ok=True)
    note = folder / f"{pid}.json"
    host = os.getpid()
    entry = {
        "pid": pid,
        "started": started_at(pid),
        "mark": mark,
        "host": host,
        "host_started": started_at(host),
    }
    note.write_text(json.dumps(entry), encoding="utf-8")
    return note


def _find_marked(mark: str) -> list[int]:
    """All processes that a program or its descendants have started, even if their parent has changed."""
    mine, found = f"{MARK}={mark}".encode(), []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else ():
        if name.isdigit() and int(name) != os.getpid():
            with contextlib.suppress(OSError):  # another user's, or it has just ended
                if mine in Path(f"/proc/{name}/environ").read_bytes().split(b"\0"):
                    found.append(int(name))
    return found


def _end_marked(mark: str) -> None:
    """Repeat until none is found: a process that is just forking is found the next time."""
    until = time.monotonic() + _KILL_SECONDS
    while mark and (pids := _find_marked(mark)) and time.monotonic() < until:
        _kill(*pids)


def _kill(*pids: int) -> None:
    for pid in pids:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.kill(pid, signal.SIGKILL)


def sweep(folder: Path) -> list[int]:
    """End keepers whose host is gone, with all their descendants. They are recognised by pid and start time or by their
    mark, never by name."""
    ended: list[int] = []
    for note in folder.glob("*.json") if folder.is_dir() else ():
        try:
            entry = json.loads(note.read_text(encoding="utf-8"))
            pid, host = int(entry["pid"]), int(entry["host"])
        except (OSError, ValueError, KeyError, TypeError):
            note.unlink(missing_ok=True)
            continue
        if started_at(host) == entry["host_started"] and entry["host_started"]:
            continue
        if entry["started"] and started_at(pid) == entry["started"]:
            _kill(*keeper.descendants(pid), pid)
            ended.append(pid)
        _end_marked(str(entry.get("mark", "")))
        note.unlink(missing_ok=True)
    return ended
