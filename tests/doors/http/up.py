"""A hub as a process of its own, as `moot up` starts it."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

from tests.support.elsewhere import free_port
from tests.support.waiting import PATIENCE

MOOT = Path(sys.executable).with_name("moot")


class Up:
    """`start` again brings it back on the same port."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = free_port()
        self.process: subprocess.Popen[str] | None = None

    def start(self, *flags: str, **environment: str) -> dict[str, Any]:
        self.process = subprocess.Popen(
            [MOOT, "--home", self.home, "up", "--json", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "MOOT_HUB__PORT": str(self.port), **environment},
        )  # fmt: skip
        assert self.process.stdout is not None
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.port = told["port"]
        return told

    def end(self, number: int) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        self.said = "".join(self.process.communicate(timeout=PATIENCE))
        return self.process.returncode

    said = ""
    """What it wrote after its first line, once it has ended."""

    @property
    def work(self) -> float:
        """Seconds of a core that it has taken so far; its clock has the number that clock_getcpuclockid(3) gives it."""
        assert self.process is not None
        return time.clock_gettime(~self.process.pid << 3 | 2)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    @property
    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {(self.home / 'run' / 'token').read_text().strip()}"}
