"""A project, a home of Moot with secrets in it, a place outside; and a shell tool that is to keep them apart."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from msgspec import Struct

from moot.model.prompt import ToolResult
from moot.tools import Bounds, Sandbox, ShellTool
from tests.support.waiting import PATIENCE

SECRET = "canary-7c1f2a"
PROGRAMS = ("cat", "ls", "printf", "python3", "sh", "sleep", "yes", "git")
BOUNDS = Bounds(seconds=PATIENCE, grace_seconds=0.3, memory_bytes=1024 * 1024 * 1024, processes=48)


class World(Struct, frozen=True):
    project: Path
    home: Path
    """Inside the project, two folders down: the hardest place to hide."""
    outside: Path
    walled: ShellTool
    bare: ShellTool
    """The same without a sandbox: shows that an attempt would succeed if nothing stopped it."""

    async def attempt(self, script: str, *, walled: bool = True, bounds: Bounds = BOUNDS) -> ToolResult:
        """Run a Python script as the agent would."""
        (self.project / "attempt.py").write_text(script, encoding="utf-8")
        return await self.run(["python3", "attempt.py"], walled=walled, bounds=bounds)

    async def run(
        self, argv: list[str], *, walled: bool = True, bounds: Bounds = BOUNDS, **more: Any
    ) -> ToolResult:
        tool = self.walled if walled else self.bare
        tool = ShellTool(PROGRAMS, self.project, sandbox=tool.sandbox, hidden=tool.hidden, bounds=bounds)
        return await tool.run({"argv": argv, **more}, None)


@pytest.fixture(scope="session")
def sandbox() -> Sandbox:
    found = Sandbox.find()
    if found.why_off:
        pytest.fail(f"these tests need a working sandbox: {found.why_off}.", pytrace=False)
    return found


@pytest.fixture
def world(tmp_path: Path, sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> World:
    project, outside = tmp_path / "project", tmp_path / "outside"
    home = project / "state" / "inner" / ".moot"
    for folder in (outside, home / "run", home / "agents" / "other"):
        folder.mkdir(parents=True)
    secrets = ("keys.json", "moot.db", "run/token", "agents/other/ROLE.md")
    for secret in [outside / "secret", *(home / name for name in secrets)]:
        secret.write_text(SECRET, encoding="utf-8")
    (project / "link").symlink_to(outside / "secret")
    (project / "linked-folder").symlink_to(outside)
    monkeypatch.setenv("MOOT_SECRET", SECRET)
    walled = ShellTool(PROGRAMS, project, sandbox=sandbox, hidden=(home,), bounds=BOUNDS)
    bare = ShellTool(PROGRAMS, project, sandbox=None, hidden=(home,), bounds=BOUNDS)
    assert walled.why_off == bare.why_off == ""
    return World(project, home, outside, walled, bare)


@pytest.fixture
def alive(world: World) -> Callable[[], list[str]]:
    """Command lines, seen from outside, of whatever still runs from this test's project."""

    def look() -> list[str]:
        return [line for line in command_lines() if str(world.project) in line]

    return look


def command_lines() -> list[str]:
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            found.append(Path(f"/proc/{pid}/cmdline").read_bytes().decode("utf-8", "replace"))
        except OSError:
            continue  # it ended while we looked
    return found
