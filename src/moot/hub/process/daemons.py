"""Agents as processes of their own: started, found, stopped. The kernel says who lives (`flock`), not a file.

`run/agents/NAME.pid` is locked by the daemon for as long as it lives, so a pid file that a `kill -9` left behind is
recognised. Above: `moot agent …`. Below: Hub.open, the same as everywhere: a daemon is a hub with one agent.
"""

import asyncio
import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, TypeVar

from msgspec import Struct

from moot import files
from moot.errors import Conflict, HubAbsent, NotFound
from moot.host.pings import JsonLine, ask
from moot.hub.process.hub_lock import announced_by
from moot.model.hint import Act, Hint
from moot.model.json import JsonObject
from moot.settings import Home

T = TypeVar("T")
START_SECONDS = 20.0
STOP_SECONDS = 30.0
LOOK_SECONDS = 0.02
LAST_LINES = 5


class Daemon(Struct, frozen=True):
    name: str
    pid: int
    socket: str


class PidFile:
    """`with PidFile(home.pid_of(name), name):` for the life of a daemon."""

    def __init__(self, path: Path, name: str) -> None:
        self._path = path
        self._name = name
        self._file = -1

    def __enter__(self) -> "PidFile":
        self._file = files.open_private(self._path, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            holder = os.pread(self._file, 32, 0).decode(errors="replace").strip()
            os.close(self._file)
            raise already(self._name, holder) from None
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with suppress(FileNotFoundError):
            self._path.unlink()
        os.close(self._file)


def already(name: str, pid: str) -> Conflict:
    return Conflict(
        f"{name} already runs as a daemon (pid {pid or 'unknown'})",
        fix=(Hint(Act.RESTART_AGENT, agent=name), Hint(Act.STOP_AGENT, agent=name)),
        pid=int(pid) if pid.isdigit() else None,
    )


def running(home: Home, name: str) -> int | None:
    """The pid of an agent's daemon, if it lives."""
    try:
        file = files.open_private(home.pid_of(name), os.O_RDWR)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        pid = os.pread(file, 32, 0).decode(errors="replace").strip()
        return int(pid) if pid.isdigit() else None
    finally:
        os.close(file)
    return None


def all_running(home: Home) -> dict[str, int]:
    """Every daemon that lives, by the name of its agent."""
    names = sorted(path.stem for path in home.run_agents.glob("*.pid")) if home.run_agents.exists() else []
    return {name: pid for name in names if (pid := running(home, name)) is not None}


async def start(home: Home, name: str) -> Daemon:
    """Start a daemon, detached; returns when its socket answers."""
    pid = running(home, name)
    if pid is not None:
        raise already(name, str(pid))
    home.make()
    started = _spawn(home, ["agent", "start", name, "--foreground"], home.log_of(name))
    await _answer(started, home.socket_of(name), name, lambda pong: pong)
    return Daemon(name, started.process.pid, str(home.socket_of(name)))


async def start_hub(home: Home, flags: Sequence[str] = ()) -> JsonObject:
    """Start the hub, detached; returns what it announced, once all its doors are open."""
    started = _spawn(home, ["up", *flags], home.logs / "hub.log")
    pid = started.process.pid
    return await _answer(started, home.hub_sock, "the hub", lambda _: announced_by(home, pid))


class Started(NamedTuple):
    process: "subprocess.Popen[bytes]"
    log: Path
    log_begins: int
    """Where in its log this run begins; everything before it is from earlier runs."""

    def last_words(self) -> str:
        with self.log.open("rb") as file:
            file.seek(self.log_begins)
            log = file.read().decode(errors="replace")
        return "\n".join(log.splitlines()[-LAST_LINES:])


def _spawn(home: Home, words: list[str], log: Path) -> Started:
    """`moot …` as a process that outlives this one; what it says goes to its log."""
    out = files.open_private(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    try:
        begins = os.lseek(out, 0, os.SEEK_END)
        process = subprocess.Popen(
            [sys.executable, "-m", "moot", "--home", str(home.path), *words],
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=out,
            start_new_session=True,
            cwd="/",
        )
    finally:
        os.close(out)
    return Started(process, log, begins)


async def _answer(started: Started, socket: Path, what: str, answer: Callable[[JsonLine], T | None]) -> T:
    """Wait until this very process says that it is ready; if it ends first, say what it said.

    `answer` makes what is returned of its pong, or None while there is more to wait for.
    """
    process, log, _ = started
    end = time.monotonic() + START_SECONDS
    while time.monotonic() < end:
        if process.poll() is not None:
            raise HubAbsent(
                f"{what} did not start (exit {process.returncode})",
                detail=started.last_words(),
                fix=(f"less {log}", Hint(Act.RUN_DOCTOR)),
            )
        pong = await ask(socket, {"ping": 1}, 1.0)
        is_ours = pong is not None and pong.get("pid") == process.pid and pong.get("ready")
        if pong is not None and is_ours and (answered := answer(pong)) is not None:
            return answered
        await asyncio.sleep(LOOK_SECONDS)
    process.terminate()
    raise HubAbsent(
        f"{what} did not answer within {START_SECONDS:g} s",
        detail=started.last_words(),
        fix=(f"less {log}",),
    )


async def stop(home: Home, name: str) -> int:
    """Ask a daemon to end, and wait until it has; answers with its pid."""
    pid = running(home, name)
    if pid is None:
        raise NotFound(
            f"{name} is not running as a daemon", fix=(Hint(Act.START_AGENT, agent=name),), ref=name
        )
    await ended(pid, lambda: running(home, name) is None, name)
    return pid


async def ended(pid: int, is_gone: Callable[[], bool], what: str) -> None:
    """TERM, and patience: running turns may finish. A process that does not end is reported, not killed."""
    with suppress(ProcessLookupError):
        os.kill(pid, signal.SIGTERM)
    end = time.monotonic() + STOP_SECONDS
    while not is_gone():
        if time.monotonic() > end:
            raise Conflict(
                f"{what} (pid {pid}) is still running after {STOP_SECONDS:g} s",
                detail="its running turns have not finished; a second signal gives them back",
                fix=(f"kill {pid}", f"kill -9 {pid}"),
            )
        await asyncio.sleep(LOOK_SECONDS)
