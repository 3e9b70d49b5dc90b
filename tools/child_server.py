"""A server for tests and for trying out, as a direct child: with a folder of its own, and known by its process id.

Nothing is ended by its name, so that nobody else's server is. Above: postgres_server.py and kafka_broker.py.
"""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any

MEMORY = Path("/dev/shm")
ROOM = 1 << 30


def roomy_folder() -> Path:
    """Where a data directory may lie: in memory where there is room. Anybody can pass through it."""
    in_memory = MEMORY.is_dir() and shutil.disk_usage(MEMORY).free >= ROOM
    return MEMORY if in_memory else Path("/tmp")


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


class ChildServer:
    """Killed, paused, stopped and started again; what starts it says when it is ready."""

    stopped_by = signal.SIGTERM
    patience = 30.0
    """Seconds until one that was told to end is killed."""

    def __init__(self, name: str, folder: Path | None, port: int) -> None:
        self._made = folder is None
        self.folder = folder or Path(tempfile.mkdtemp(prefix=f"moot-{name}-", dir=roomy_folder()))
        self.port = port or free_port()
        self._process: subprocess.Popen[bytes] | None = None

    @property
    def log(self) -> Path:
        return self.folder / "log"

    @property
    def is_started(self) -> bool:
        return self._process is not None

    @property
    def pid(self) -> int:
        assert self._process is not None
        return self._process.pid

    def spawn(self, command: list[str], log: Path, **how: Any) -> subprocess.Popen[bytes]:
        with log.open("ab") as written:
            return subprocess.Popen(
                command,
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=written,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                **how,
            )

    def has_ended(self) -> bool:
        return self._process is None or self._process.poll() is not None

    def said(self, after: int = 0) -> str:
        """What it wrote to its log, behind so many bytes."""
        return self.log.read_bytes()[after:].decode("utf-8", "replace")

    def kill(self) -> None:
        """At once; what the kernel was given it keeps. Its children follow by themselves."""
        self._end(signal.SIGKILL)

    def stop(self) -> None:
        if self._process is not None:
            self._end(self.stopped_by)

    def pause(self) -> None:
        """It holds its connections and answers nobody."""
        os.kill(self.pid, signal.SIGSTOP)

    def go_on(self) -> None:
        os.kill(self.pid, signal.SIGCONT)

    def remove(self) -> None:
        """Stopped, and nothing of it left."""
        self.stop()
        if self._made:
            shutil.rmtree(self.folder, ignore_errors=True)

    def _end(self, how: signal.Signals) -> None:
        assert self._process is not None
        self._process.send_signal(how)
        try:
            self._process.wait(self.patience)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()
        self._process = None
