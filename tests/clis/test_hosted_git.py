"""The real claude and the real codex in a worktree behind the wall, with a scripted model."""

import asyncio
import subprocess
from pathlib import Path

import pytest

from moot.hub.process import worktrees
from moot.settings import Home
from moot.testing.fake_llm import Answer, Request
from tests.clis import test_hosted_clis as clis
from tests.clis.conftest import hub_of

hosted = clis.hosted  # the fixture

COMMIT = "echo hi > b.txt; git add b.txt && git commit -q -m second; git status --short"


async def git(folder: Path, *words: str) -> str:
    command = ["git", "-C", str(folder), "-c", "user.name=p", "-c", "user.email=p@x", *words]
    done = await asyncio.to_thread(subprocess.run, command, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.mark.timeout(180)
@pytest.mark.parametrize(("cli", "permissions"), [("claude", "all"), ("codex", "all"), ("codex", "edit")])
async def test_16_behind_the_wall_it_commits_to_its_branch(
    hosted: clis.Hosted, cli: str, permissions: str
) -> None:
    hosted.set_up(cli, sandbox="bwrap", permissions=permissions)
    repository, home = hosted.folder("repository"), Home(hosted.home / ".moot")
    await git(repository, "init", "--quiet", "--initial-branch=main")
    await git(repository, "commit", "--quiet", "--allow-empty", "--message=first")
    place = await worktrees.make(home, "arya", repository)
    home.toml.write_text(home.toml.read_text().replace(str(hosted.folder("project")), str(place)))
    seen: list[Request] = []

    async def play(request: Request) -> Answer:
        seen.append(request)
        return clis.shell(cli, COMMIT) if len(seen) == 1 else Answer("done")

    clis.played(hosted, play)
    async with hub_of(hosted):
        assert await hosted.ask("commit") == "done"
    commits = (await git(repository, "log", "--format=%an:%s", "moot/arya")).split()
    assert commits == ["arya:second", "p:first"]
    assert await git(place, "status", "--short") == ""
    assert await git(repository, "fsck", "--full", "--strict") == ""
    left = {part.name for part in (repository / ".git" / "worktrees" / "arya").iterdir()}
    assert not {".git", ".codex", ".agents", ".aws"} & left, "codex leaves none of its own folders there"
