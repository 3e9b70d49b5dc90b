"""A PostgreSQL server for trying out: `make services` starts it, `make services-stop` ends it by its process id.

Where it is stands in `.services/env`, as `MOOT_PG_URL=…`; its data stays until `.services` is removed.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from pathlib import Path

from tools.postgres_server import PostgresServer, is_passable

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / ".services"
ENV = HERE / "env"
PID = HERE / "postgres.pid"
PATIENCE = 15.0


def data_folder() -> Path:
    """Here; or, where the server's user cannot come here, a place of its own, which `.services/data` names."""
    if os.geteuid() != 0 or is_passable(HERE):
        return HERE / "postgres"
    noted = HERE / "data"
    if not noted.exists():
        folder = Path("/var/tmp") / f"moot-services-{abs(hash(str(ROOT))):x}"
        noted.write_text(str(folder))
    return Path(noted.read_text())


def running() -> int | None:
    """The process id of the server, if it runs: one that was given to somebody else since is not it."""
    try:
        pid = int(PID.read_text())
        command = Path(f"/proc/{pid}/cmdline").read_bytes()
    except (OSError, ValueError):
        return None
    return pid if b"postgres" in command and str(data_folder()).encode() in command else None


def start() -> int:
    HERE.mkdir(mode=0o755, exist_ok=True)
    if running() is None:
        server = PostgresServer(data_folder()).start()
        PID.write_text(str(server.pid))
        ENV.write_text(f"MOOT_PG_URL={server.url()}\n")
    print(f"PostgreSQL runs; {ENV.relative_to(ROOT)} has:\n{ENV.read_text()}", end="")
    return 0


def stop() -> int:
    pid = running()
    if pid is None:
        print("no service runs")
        return 0
    os.kill(pid, signal.SIGINT)
    until = time.monotonic() + PATIENCE
    while running() is not None and time.monotonic() < until:
        time.sleep(0.05)
    PID.unlink(missing_ok=True)
    ENV.unlink(missing_ok=True)
    print("PostgreSQL has stopped; its data stays in .services")
    return 0


if __name__ == "__main__":
    raise SystemExit(stop() if sys.argv[1:] == ["stop"] else start())
