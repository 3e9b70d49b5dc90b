"""A person's machine with scripted CLIs on its PATH, which speak the protocols of the real ones."""

import os
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.settings import Home, load
from moot.wiring import configured_agents

KINDS = {"claude": "command:claude", "codex": "command:codex", "acp": "acp:fakeacp"}


class Workshop:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.person = root / "person"
        self.bin = root / "bin"
        self.home = Home(root / "moot")
        for folder in (self.person, self.bin, self.home.path):
            folder.mkdir(mode=0o700)
        for name, protocol in (("claude", "claude"), ("codex", "codex"), ("fakeacp", "acp")):
            self.script(name, f'exec "{sys.executable}" -m moot.testing.fake_cli.run {protocol} "$@"')
        self.rows: list[str] = []
        self.head = ""
        self._enough = root / "enough"

    def script(self, name: str, body: str) -> Path:
        path = self.bin / name
        path.write_text(f"#!/bin/sh\n{body}\n")
        path.chmod(0o755)
        return path

    def enter(self, monkeypatch: pytest.MonkeyPatch) -> None:
        for name, value in {"PATH": f"{self.bin}:/usr/bin:/bin", "HOME": str(self.person)}.items():
            monkeypatch.setenv(name, value)

    def project(self, name: str) -> Path:
        path = self.root / "projects" / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def agent(self, name: str, brain: str = "claude", project: str = "", **settings: Any) -> None:
        """A row of moot.toml; `brain` is a kind of scripted CLI, or a whole brain string."""
        lines = [f'name = "{name}"', f"brain = '{KINDS.get(brain, brain)}'"]
        lines.append(f'project = "{self.project(project or name)}"')
        lines += [f"{key} = {_toml(value)}" for key, value in settings.items()]
        self.rows.append("[[agents]]\n" + "\n".join(lines))

    def write(self) -> None:
        self.home.toml.write_text("\n\n".join([self.head, *self.rows]) + "\n")

    @property
    def streaming(self) -> str:
        """What a scripted CLI is told to say word after word, until it is enough or it is interrupted."""
        return f"! until {self._enough}"

    @property
    def waiting(self) -> str:
        """A shell command that ends when it is enough."""
        return f"until [ -e {self._enough} ]; do sleep 0.05; done"

    def enough(self) -> None:
        self._enough.touch()

    @asynccontextmanager
    async def hub(self, **options: Any) -> AsyncIterator[Hub]:
        self.write()
        agents = configured_agents(load(self.home), self.home)
        async with Hub.open(self.home.path, agents=agents, **options) as hub:
            yield hub

    async def left(self) -> list[str]:
        return self.processes()

    def processes(self) -> list[str]:
        """Command lines of everything that was started for a person of this workshop."""
        mine, found = f"HOME={self.person}".encode(), []
        for pid in [name for name in os.listdir("/proc") if name.isdigit() and int(name) != os.getpid()]:
            try:
                if mine in Path(f"/proc/{pid}/environ").read_bytes().split(b"\0"):
                    found.append(Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " "))
            except OSError:
                continue
        return found


def _toml(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_toml(one) for one in value) + "]"
    return f'"{value}"' if isinstance(value, str) else str(value)
