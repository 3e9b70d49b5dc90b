"""Servers for trying out: `make services` starts PostgreSQL and Kafka, `make services-stop` ends them by process id.

Where they are stands in `.services/env`, as `MOOT_PG_URL=…` and `MOOT_KAFKA=HOST:PORT`; their data stays until
`.services` is removed.
"""

from __future__ import annotations

import hashlib
import os
import signal
import socket
import sys
import time
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from tools.child_server import free_port
from tools.kafka_broker import KafkaBroker
from tools.postgres_server import PostgresServer, is_passable

ROOT = Path(__file__).resolve().parent.parent
HERE = ROOT / ".services"
ENV = HERE / "env"
PATIENCE = 15.0


def postgres_folder() -> Path:
    """Here; or, where the server's user cannot come here, a place of its own, which `.services/data` names."""
    if os.geteuid() != 0 or is_passable(HERE):
        return HERE / "postgres"
    noted = HERE / "data"
    if not noted.exists():
        of_this = hashlib.sha256(str(ROOT).encode()).hexdigest()[:12]
        noted.write_text(str(Path("/var/tmp") / f"moot-services-{of_this}"))
    return Path(noted.read_text())


def kafka_folder() -> Path:
    return HERE / "kafka"


@dataclass(frozen=True)
class Service:
    """One server, known by the process id it was started with."""

    name: str
    program: bytes
    ended_by: signal.Signals

    @property
    def folder(self) -> Path:
        return postgres_folder() if self is POSTGRES else kafka_folder()

    @property
    def _noted(self) -> Path:
        return HERE / f"{self.name.lower()}.pid"

    def running(self) -> int | None:
        """Its process id, if it runs: one that was given to somebody else since is not it."""
        try:
            pid = int(self._noted.read_text())
            command = Path(f"/proc/{pid}/cmdline").read_bytes()
        except (OSError, ValueError):
            return None
        return pid if self.program in command and str(self.folder).encode() in command else None

    def note(self, pid: int) -> None:
        self._noted.write_text(str(pid))

    def stop(self) -> bool:
        """Whether there was anything to stop."""
        pid = self.running()
        if pid is None:
            return False
        os.kill(pid, self.ended_by)
        until = time.monotonic() + PATIENCE
        while self.running() is not None and time.monotonic() < until:
            time.sleep(0.05)
        self._noted.unlink(missing_ok=True)
        return True


POSTGRES = Service("PostgreSQL", b"postgres", signal.SIGINT)
KAFKA = Service("Kafka", b"kafka.Kafka", signal.SIGTERM)


def kept_port(name: str) -> int:
    """The one it had before, so that homes which name it find it again; another where that is taken."""
    noted = HERE / f"{name}.port"
    with suppress(OSError, ValueError), socket.socket() as probe:
        port = int(noted.read_text())
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        probe.bind(("127.0.0.1", port))
        return port
    noted.write_text(str(free_port()))
    return int(noted.read_text())


def start() -> int:
    HERE.mkdir(mode=0o755, exist_ok=True)
    lines = dict(line.split("=", 1) for line in _lines())
    if POSTGRES.running() is None:
        server = PostgresServer(POSTGRES.folder, port=kept_port("postgres")).start()
        POSTGRES.note(server.pid)
        lines["MOOT_PG_URL"] = server.url()
    if KAFKA.running() is None:
        broker = KafkaBroker(KAFKA.folder, port=kept_port("kafka")).start()
        KAFKA.note(broker.pid)
        lines["MOOT_KAFKA"] = broker.address
    ENV.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
    print(f"PostgreSQL and Kafka run; {ENV.relative_to(ROOT)} has:\n{ENV.read_text()}", end="")
    return 0


def _lines() -> list[str]:
    return ENV.read_text().splitlines() if ENV.exists() else []


def stop() -> int:
    stopped = [service.name for service in (KAFKA, POSTGRES) if service.stop()]
    ENV.unlink(missing_ok=True)
    print(f"{' and '.join(stopped)} stopped; their data stays in .services" if stopped else "no service runs")
    return 0


if __name__ == "__main__":
    raise SystemExit(stop() if sys.argv[1:] == ["stop"] else start())
