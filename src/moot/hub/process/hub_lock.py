"""One hub per home: whoever holds the lock is it, and says so in `run/hub.json`.

The lock is the kernel's (`flock`), so it cannot outlive its process; hub.json is only there to be read.
"""

import fcntl
import os
import time
from contextlib import suppress
from types import TracebackType

import msgspec

from moot import __version__, files
from moot.errors import HubRunning
from moot.host.liveness import is_alive
from moot.model.hint import Act, Hint
from moot.model.json import JsonObject
from moot.settings import Home
from moot.shapes import when

PATIENCE_SECONDS = 5.0
"""For processes that only look: on a busy machine one may be kept from letting go of the lock for a while."""
LOOK_SECONDS = 0.02
MAX_BYTES = 65_536


class HubLock:
    """`with HubLock(home) as lock: …; lock.announce()`. A second one on the same home is refused at once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._path = home.run / "hub.lock"
        self._file = -1
        self._announced = False

    def __enter__(self) -> "HubLock":
        self._home.make()
        self._file = files.open_private(self._path, os.O_RDWR | os.O_CREAT)
        holder = self._take()
        if holder:
            os.close(self._file)
            raise HubRunning(
                f"a hub is already running on {self._home.path} (pid {holder})",
                detail="each home has one hub; other commands connect to it",
                fix=(Hint(Act.STOP_HUB), Hint(Act.START_HUB_ELSEWHERE))
                if holder.isdigit()
                else (Hint(Act.RUN_DOCTOR),),
                pid=int(holder) if holder.isdigit() else None,
            )
        with suppress(FileNotFoundError):
            self._home.hub_json.unlink()  # of one that was killed: nobody may take it for ours
        os.ftruncate(self._file, 0)
        os.pwrite(self._file, f"{os.getpid()}\n".encode(), 0)
        return self

    def _take(self) -> str:
        """Empty if the lock is ours, otherwise who holds it. Without a name, or under that of a hub that was killed,
        another process is only looking: try again."""
        end = time.monotonic() + PATIENCE_SECONDS
        while time.monotonic() < end:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                holder = os.pread(self._file, 32, 0).decode(errors="replace").strip()
                if holder.isdigit() and is_alive(int(holder)):
                    return holder
                time.sleep(LOOK_SECONDS)
            else:
                return ""
        return "unknown"

    def announce(self, instance: str, at: tuple[str, int, str] | None = None) -> JsonObject:
        """The hub is ready: write hub.json whole or not at all, and give what it says. `at` is where it answers
        HTTP: host, port, URL."""
        host, port, url = at or (None, None, f"unix:{self._home.hub_sock}")
        announcement = {
            "pid": os.getpid(),
            "host": host,
            "port": port,
            "url": url,
            "instance": instance,
            "version": __version__,
            "started_at": when(time.time()),
        }
        files.replace(self._home.hub_json, msgspec.json.encode(announcement))
        self._announced = True
        return announcement

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._announced:
            with suppress(FileNotFoundError):
                self._home.hub_json.unlink()
        os.ftruncate(self._file, 0)
        os.close(self._file)


def running_hub(home: Home) -> JsonObject | None:
    """What hub.json says, if a hub holds the lock; None where none does."""
    if not _is_held(home):
        return None
    try:
        announcement: JsonObject = msgspec.json.decode(files.read(home.hub_json, MAX_BYTES))
    except (OSError, msgspec.DecodeError):
        return {"pid": None}
    return announcement


def announced_by(home: Home, pid: int) -> JsonObject | None:
    """What the hub of this process announced; None while it has not, and where another one runs."""
    announcement = running_hub(home)
    return announcement if announcement is not None and announcement["pid"] == pid else None


def _is_held(home: Home) -> bool:
    try:
        file = files.open_private(home.run / "hub.lock", os.O_RDWR)
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(file)
    return False
