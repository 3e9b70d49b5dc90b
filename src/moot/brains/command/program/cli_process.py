"""One program under its keeper: lines in, lines out, and an end that takes everything along that it started.

Above: the drivers. Below: keeper.py, which watches from outside. Its number and start time are written to a folder of
the home while it runs, so that a host that starts later can end what an earlier one could not (`sweep`).
"""

import asyncio
import contextlib
import json
import os
import signal
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import AsyncIterator, Mapping
from pathlib import Path
from typing import Final

from moot.brains.command.driver import CliDied
from moot.brains.command.program import keeper

MAX_LINE: Final = 16 << 20
"""Bytes; a longer line is dropped."""
MAX_STDERR: Final = 64 << 10
GRACE_SECONDS: Final = 3.0
_LAST_WAIT_SECONDS: Final = 3.0
_CHUNK: Final = 64 << 10
_FILE_BYTES: Final = 8 << 30


class CliProcess:
    def __init__(self, process: Process, life: int, mark: Path | None) -> None:
        self._process = process
        self._life = life
        self._mark = mark
        self._stderr: deque[bytes] = deque()
        self._stderr_size = 0
        self._hearing = asyncio.create_task(self._hear_stderr())
        self._ending: asyncio.Task[None] | None = None
        self._silent = False
        """It has closed its output: what ended it may still be on its way."""
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
        terms = {
            "host": os.getpid(),
            "life": watched,
            "rlimits": {"CORE": 0, "FSIZE": _FILE_BYTES},
            "grace": grace,
        }
        try:
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-I", "-S", keeper.__file__, json.dumps(terms), *argv),
                stdin=PIPE,
                stdout=PIPE,
                stderr=PIPE,
                cwd=cwd,
                env=dict(environ),
                pass_fds=(watched,),
                start_new_session=True,
                limit=_CHUNK,
            )
        except OSError as error:
            os.close(life)
            raise CliDied(f"{argv[0]} could not be started: {error.strerror or error}") from error
        finally:
            os.close(watched)
        return cls(process, life, _marked(run_folder, process.pid))

    @property
    def pid(self) -> int:
        """Of the keeper."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        return self._process.returncode is None and self._ending is None and not self._silent

    @property
    def last_words(self) -> str:
        """The end of what it wrote to standard error."""
        return b"".join(self._stderr).decode("utf-8", "replace").strip()

    async def write(self, data: bytes) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        try:
            stdin.write(data)
            await stdin.drain()
        except (ConnectionError, RuntimeError) as gone:
            raise CliDied("its process has ended") from gone

    async def end_input(self) -> None:
        stdin = self._process.stdin
        assert stdin is not None
        with contextlib.suppress(ConnectionError, RuntimeError):
            stdin.close()

    async def pieces(self) -> AsyncIterator[bytes]:
        """What it writes, as it comes, until it has ended."""
        stdout = self._process.stdout
        assert stdout is not None
        while chunk := await stdout.read(_CHUNK):
            yield chunk
        self._silent = True

    async def lines(self) -> AsyncIterator[bytes]:
        """What it writes, line by line; a line of more than `MAX_LINE` is dropped."""
        held: list[bytes] = []
        size, dropping = 0, False
        async for chunk in self.pieces():
            first, *rest = chunk.split(b"\n")
            for number, part in enumerate((first, *rest)):
                if number:
                    if not dropping and held:
                        yield b"".join(held)
                    held, size, dropping = [], 0, False
                size += len(part)
                if size > MAX_LINE:
                    self.dropped += not dropping
                    held, dropping = [], True
                elif part:
                    held.append(part)
        if held and not dropping:
            yield b"".join(held)

    async def exit_code(self) -> int:
        """Of a program that has ended by itself or was ended."""
        return await self._process.wait()

    async def end(self) -> None:
        """Politely, then firmly; back when nothing of it is left. Goes on if whoever waits is cancelled."""
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
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), GRACE_SECONDS + _LAST_WAIT_SECONDS)
        if process.returncode is None:
            for pid in (*keeper.descendants(process.pid), process.pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(pid, signal.SIGKILL)
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(process.wait(), _LAST_WAIT_SECONDS)
        os.close(self._life)
        self._hearing.cancel()
        transport = getattr(
            process, "_transport", None
        )  # a pipe that somebody still holds must not stay open here
        if transport is not None:
            transport.close()
        if self._mark is not None:
            self._mark.unlink(missing_ok=True)

    async def _hear_stderr(self) -> None:
        stderr = self._process.stderr
        assert stderr is not None
        while chunk := await stderr.read(_CHUNK):
            self._stderr.append(chunk)
            self._stderr_size += len(chunk)
            while self._stderr_size > MAX_STDERR:
                self._stderr_size -= len(self._stderr.popleft())


def started_at(pid: int) -> str:
    """When a process began, as the kernel counts it; empty where there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[19]


def _marked(folder: Path | None, pid: int) -> Path | None:
    if folder is None:
        return None
    folder.mkdir(mode=0o700, exist_ok=True)
    mark = folder / f"{pid}.json"
    host = os.getpid()
    known = {"pid": pid, "started": started_at(pid), "host": host, "host_started": started_at(host)}
    mark.write_text(json.dumps(known), encoding="utf-8")
    return mark


def sweep(folder: Path) -> list[int]:
    """End keepers whose host is gone, with all that is below them. Known by number and start time, never by name."""
    ended: list[int] = []
    for mark in folder.glob("*.json") if folder.is_dir() else ():
        try:
            known = json.loads(mark.read_text(encoding="utf-8"))
            pid, host = int(known["pid"]), int(known["host"])
        except (OSError, ValueError, KeyError, TypeError):
            mark.unlink(missing_ok=True)
            continue
        if started_at(host) == known["host_started"] and known["host_started"]:
            continue
        if known["started"] and started_at(pid) == known["started"]:
            for one in (*keeper.descendants(pid), pid):
                with contextlib.suppress(ProcessLookupError, PermissionError):
                    os.kill(one, signal.SIGKILL)
            ended.append(pid)
        mark.unlink(missing_ok=True)
    return ended
