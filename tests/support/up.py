"""`moot up` as a process of its own, ended by its id; it comes back on the same port."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

MOOT = Path(sys.executable).with_name("moot")


class Up:
    """A hub as a process; `start` again brings it back on the same port."""

    def __init__(self, home: Path) -> None:
        self.home = home
        self.port = 0
        self.process: subprocess.Popen[str] | None = None

    def start(self, *flags: str) -> dict[str, Any]:
        environment = {**os.environ, "MOOT_HUB__PORT": str(self.port)}
        self.process = subprocess.Popen(
            [MOOT, "--home", self.home, "up", "--json", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment,
        )  # fmt: skip
        assert self.process.stdout is not None
        told: dict[str, Any] = json.loads(self.process.stdout.readline())
        self.port = told["port"]
        return told

    def end(self, number: int) -> int:
        assert self.process is not None
        self.process.send_signal(number)
        self.process.communicate(timeout=20)
        return self.process.returncode

    @property
    def token(self) -> dict[str, str]:
        return {"Authorization": f"Bearer {(self.home / 'run' / 'token').read_text().strip()}"}
