"""Agents started in one repository work in checkouts of their own, and nothing they did is ever thrown away."""

import subprocess
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.hub.process import worktrees
from moot.settings import Home
from moot.testing import ManualClock
from tests.support.waiting import until

pytestmark = pytest.mark.req("J-09")
START = 1_800_000_000.0
SETTINGS = """
[[agents]]
name = "lead"
brain = "demo"
project = "{project}"
autostart = false
spawns = ["*"]

[templates.coder]
brain = "demo"
project = "{project}"
tools = ["shell-unsandboxed:ls"]
worktree_setup = ["touch", "set-up"]

[templates.reader]
brain = "demo"
project = "{project}"
"""


def git(folder: Path, *words: str) -> str:
    done = subprocess.run(
        ["git", "-C", str(folder), "-c", "user.name=x", "-c", "user.email=x@x", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    return done.stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    place = tmp_path / "repository"
    (place / "part").mkdir(parents=True)
    (place / "part" / "file").write_text("one\n")
    git(place, "init", "--quiet", "--initial-branch=main")
    git(place, "add", ".")
    git(place, "commit", "--quiet", "--message=first")
    return place


@pytest.fixture
def home(tmp_path: Path) -> Home:
    (tmp_path / "home").mkdir(mode=0o700)
    return Home(tmp_path / "home")


async def test_a_checkout_is_made_once_outside_the_repository_and_no_hook_runs(
    home: Home, repository: Path
) -> None:
    hook = repository / ".git" / "hooks" / "post-checkout"
    hook.write_text(f"#!/bin/sh\ntouch {repository.parent}/ran\n")
    hook.chmod(0o755)
    place = await worktrees.make(home, "ann", repository / "part", ("touch", "ready"))
    assert place == worktrees.folder_of(home, "ann") / "part"
    assert (place / "file").read_text() == "one\n"
    assert (place.parent / "ready").exists()
    assert not (repository.parent / "ran").exists()
    assert not place.is_relative_to(home.path)
    assert await worktrees.make(home, "ann", repository / "part") == place
    assert "moot/ann" in git(repository, "branch", "--list", "moot/*")


async def test_a_clean_one_goes_with_its_branch(home: Home, repository: Path) -> None:
    place = await worktrees.make(home, "ann", repository)
    assert await worktrees.clear(home, "ann", START) is None
    assert not place.exists()
    assert git(repository, "branch", "--list", "moot/*") == ""
    git(repository, "fsck", "--strict")


@pytest.mark.parametrize(
    ("left", "why"),
    [("changed", "1 files"), ("new", "1 files"), ("committed", "1 commits"), ("staged", "1 files")],
)
async def test_one_with_work_in_it_stays(home: Home, repository: Path, left: str, why: str) -> None:
    place = await worktrees.make(home, "ann", repository)
    (place / ("part/file" if left == "changed" else "work")).write_text("two\n")
    if left in ("committed", "staged"):
        git(place, "add", ".")
    if left == "committed":
        git(place, "commit", "--quiet", "--message=mine")
    kept = await worktrees.clear(home, "ann", START)
    assert kept is not None
    assert kept.why.startswith(why)
    assert place.exists()
    assert "moot/ann" in git(repository, "branch", "--list", "moot/*")


async def test_what_was_merged_is_no_work_of_its_own(home: Home, repository: Path) -> None:
    place = await worktrees.make(home, "ann", repository)
    (place / "work").write_text("two\n")
    git(place, "add", ".")
    git(place, "commit", "--quiet", "--message=mine")
    git(repository, "merge", "--quiet", "moot/ann")
    assert await worktrees.clear(home, "ann", START) is None
    assert (repository / "work").exists()


async def test_two_that_write_in_one_repository_get_two_checkouts_and_one_that_reads_none(
    home: Home, repository: Path
) -> None:
    home.toml.write_text(SETTINGS.replace("{project}", str(repository)))
    clock = ManualClock(START)
    async with Hub.open(home.path, clock=clock, socket=home.hub_sock) as hub:
        lead = hub.acting_as("lead")
        for template in ("coder", "coder", "reader"):
            await lead.spawn(template)
        places = {name: worktrees.folder_of(home, name) for name in ("coder", "coder-2", "reader")}
        assert {name: place.exists() for name, place in places.items()} == {
            "coder": True,
            "coder-2": True,
            "reader": False,
        }
        assert (places["coder"] / "set-up").exists()
        (places["coder-2"] / "set-up").unlink()
        for name in places:
            await hub.agents.remove(name)
        await clock.advance(60)

        async def gone() -> Any:
            return not places["coder-2"].exists()

        await until(gone, bool)
        assert places["coder"].exists(), "there is work in it"


async def test_nothing_that_the_repositorys_own_settings_name_is_run(home: Home, repository: Path) -> None:
    """They are not the owner's word: whoever works in the repository can write them, also from inside a sandbox."""
    ran = repository.parent / "ran"
    program = repository.parent / "evil"
    program.write_text(f"#!/bin/sh\necho $0 $* >> {ran}\ncat\n")
    program.chmod(0o755)
    (repository / ".gitattributes").write_text("* filter=evil\n")
    git(repository, "add", ".")
    git(repository, "commit", "--quiet", "--message=attributes")
    for name in ("core.fsmonitor", "filter.evil.smudge", "filter.evil.clean", "filter.evil.process"):
        git(repository, "config", name, str(program))
    included = repository / ".git" / "more"
    included.write_text(f'[filter "evil"]\n\tsmudge = {program}\n\trequired = true\n')
    git(repository, "config", "include.path", "more")
    place = await worktrees.make(home, "ann", repository)
    (place / "part" / "file").touch()
    assert await worktrees.clear(home, "ann", START) is None
    assert not ran.exists(), ran.read_text()


async def test_work_that_was_left_is_named_until_it_is_taken_and_salvaged_after_two_weeks(
    home: Home, repository: Path
) -> None:
    home.toml.write_text(SETTINGS.replace("{project}", str(repository)))
    clock = ManualClock(START)
    place = worktrees.folder_of(home, "coder")

    async def named(hub: Hub) -> list[Any]:
        return [row for row in (await hub.operator.now()).needs_you if row.what == "worktree"]

    async with Hub.open(home.path, clock=clock, socket=home.hub_sock) as hub:
        await hub.acting_as("lead").spawn("coder")
        (place / "work").write_text("two\n")
        await hub.agents.remove("coder")
        await clock.advance(60)
        [row] = await until(lambda: named(hub), bool)
        assert (row.agent, row.error) == (
            "coder",
            f"the worktree of coder stays, {place}: 2 files are not committed",
        )
        assert row.fix == (f"git -C {place} status",)
        again = await hub.acting_as("lead").spawn("coder")
        assert worktrees.folder_of(home, again.agent) != place, "what one left is not another's"
        await hub.agents.remove(again.agent)

    for days in (13, 15):
        clock = ManualClock(START + days * 86_400)

        async def gone(clock: ManualClock = clock) -> bool:
            """A minute later each time: who looks sleeps from where the clock stands when it begins to."""
            await clock.advance(60)
            return not place.exists()

        async with Hub.open(home.path, clock=clock, socket=home.hub_sock) as hub:
            if days > 14:
                await until(gone, bool)
            else:
                await clock.advance(60)
                assert "coder" in [row.agent for row in await named(hub)]
                assert place.exists()
    kept = git(repository, "show", "--stat", "--format=%s", "moot/salvage/coder")
    assert "Keep what coder left in its worktree" in kept
    assert "work" in kept
    git(repository, "fsck", "--strict")


async def test_where_a_checkout_is_a_must_and_cannot_be_made_the_task_fails_at_once_and_says_why(
    home: Home, repository: Path
) -> None:
    text = SETTINGS.replace("{project}", str(repository)).replace(
        'worktree_setup = ["touch", "set-up"]', 'worktree = "always"'
    )
    (home.path / "moot.toml").write_text(text)
    home.worktrees.write_text("in the way")
    async with Hub.open(home.path, socket=home.path / "run" / "hub.sock") as hub:
        made = await hub.spawn("coder", task="write the parser")
        [task] = await until(hub.tasks.list, lambda tasks: tasks[0].state != "open")
        [gone] = await until(hub.agents.tree, lambda tree: tree[0].ended_at is not None)
    assert task.state == "failed"
    assert "worktree" in (task.result or "")
    assert gone.agent == made.agent
    assert git(repository, "status", "--porcelain") == ""
