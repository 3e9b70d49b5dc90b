"""Worktrees: a checkout of its own for an agent that was started in a repository where another one works.

Two agents in one checkout undo each other's work. So each gets a branch `moot/ID` and a folder beside the home, never
inside it and never inside the repository. Nothing that was worked on is ever thrown away: a worktree goes only when
git says that it is clean and has no commit of its own, and no branch with commits is deleted.

Above: spawned_agents.py. Below: git, as a program. Not here: who needs one.
"""

import asyncio
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import structlog
from msgspec import Struct, json

from moot import files
from moot.brains.command import worktree_git
from moot.errors import BadValue
from moot.settings import Home

log = structlog.get_logger("moot.worktrees")

GIT_SECONDS: Final = 60.0
SETUP_SECONDS: Final = 600.0
SALVAGED_AFTER: Final = 14 * 86_400.0
NOTE: Final = ".left.json"
BRANCHES: Final = "moot/"
QUIET: Final = {"core.hooksPath": os.devnull, "core.fsmonitor": "false"}
"""Git runs no hook of the repository, nor a program that watches its files: what it says is not trusted."""
PROGRAMS: Final = r"^filter\..*\.(clean|smudge|process|required)$"
"""Settings by which files are changed on their way in and out, by programs."""


class GitAnswer(Struct, frozen=True):
    code: int
    text: str

    @property
    def lines(self) -> list[str]:
        return self.text.splitlines()


class Leftover(Struct, frozen=True):
    """A worktree that stays because there is work in it. Noted beside it, so that it is known for as long as it is
    there."""

    agent: str
    path: str
    branch: str
    why: str
    since: float


def folder_of(home: Home, agent: str) -> Path:
    return home.worktrees / agent


async def repository_of(project: Path) -> Path | None:
    """The top of the git repository that a folder is in, if it is in one that has a commit."""
    top = await _git(project, "rev-parse", "--show-toplevel")
    head = await _git(project, "rev-parse", "--verify", "--quiet", "HEAD")
    return Path(top.text.strip()) if top.code == 0 and head.code == 0 else None


async def make(home: Home, agent: str, project: Path, setup: tuple[str, ...] = ()) -> Path:
    """The agent's own checkout of the repository that `project` is in; the folder in it that stands for `project`."""
    top = await repository_of(project)
    if top is None:
        raise BadValue(f"{project} is in no git repository", detail="a worktree needs one with a commit")
    place = folder_of(home, agent)
    if not place.exists():
        _folder_for(place)
        branch = f"{BRANCHES}{agent}"
        found = await _git(top, "rev-parse", "--verify", "--quiet", f"refs/heads/{branch}")
        new = () if found.code == 0 else ("-b", branch)
        target = branch if found.code == 0 else "HEAD"
        made = await _git(top, "worktree", "add", "--quiet", *new, str(place), target)
        if made.code:
            raise BadValue(f"git could not make a worktree for {agent}", detail=made.text.strip()[-500:])
        if setup:
            await _set_up(place, setup)
    inside = await _git(project, "rev-parse", "--show-prefix")
    return place / inside.text.strip()


def _folder_for(place: Path) -> None:
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    except OSError as trouble:
        raise BadValue(f"no worktree can be made in {place.parent}", detail=str(trouble)) from None


async def _set_up(place: Path, setup: tuple[str, ...]) -> None:
    """Run the set-up commands of a checkout; a failure is logged and does not stop the agent."""
    done = await _run(place, *setup, seconds=SETUP_SECONDS)
    if done.code:
        log.warning("worktree_setup failed", action="worktree_setup_failed", error=done.text[-500:])


async def clear(home: Home, agent: str, now: float) -> Leftover | None:
    """Remove the worktree of a retired agent if nothing would be lost; else note what is in it. After two weeks the
    work is committed to a branch and the worktree removed."""
    place, note = folder_of(home, agent), _note_of(home, agent)
    if not place.exists():
        note.unlink(missing_ok=True)
        return None
    why = await _remove(home, place, agent)
    before = _read(note)
    since = before.since if before is not None else now
    if why and now - since >= SALVAGED_AFTER and await _salvage(place, agent):
        why = await _remove(home, place, agent)
    if not why:
        note.unlink(missing_ok=True)
        worktree_git.forget(home, agent)
        return None
    branch = (await _git(place, "rev-parse", "--abbrev-ref", "HEAD")).text.strip()
    left = Leftover(agent, str(place), branch, why, since)
    files.replace(note, json.encode(left))
    return left


def leftovers(home: Home) -> list[Leftover]:
    """What agents that are gone have left, the oldest first."""
    notes = [_read(note) for note in folder_of(home, "x").parent.glob(f"*{NOTE}")]
    return sorted(
        (one for one in notes if one is not None and Path(one.path).exists()), key=lambda one: one.since
    )


def _note_of(home: Home, agent: str) -> Path:
    place = folder_of(home, agent)
    return place.with_name(f"{place.name}{NOTE}")


def _read(note: Path) -> Leftover | None:
    try:
        return json.decode(note.read_bytes(), type=Leftover)
    except (OSError, ValueError):
        return None


async def _take_over_commits(home: Home, place: Path) -> str:
    """Bring what an agent in a sandbox has committed to its branch; returns why not if that fails."""
    worktree = await asyncio.to_thread(worktree_git.find_worktree, place, home)
    if worktree is None:
        return ""
    try:
        await asyncio.to_thread(worktree.take_over)
    except worktree_git.GitFailed:
        return "git cannot take over what was committed in it"
    return ""


async def _remove(home: Home, place: Path, agent: str) -> str:
    """Remove it; returns why not if it stays."""
    own = f"{BRANCHES}{agent}"
    if why := await _take_over_commits(home, place) or await _work_in(place, own):
        return why
    repository = await _repository(place)
    if await _work_in(place, own):  # looked at again, right before
        return "somebody is still writing in it"
    removal = await _git(
        repository, "worktree", "remove", str(place)
    )  # never --force: git refuses where work is
    if removal.code:
        return removal.text.strip()[-200:]
    await _git(
        repository, "branch", "--delete", "--quiet", own
    )  # never -D: git refuses where commits would be lost
    return ""


async def _repository(place: Path) -> Path:
    common = await _git(place, "rev-parse", "--path-format=absolute", "--git-common-dir")
    return Path(common.text.strip())


async def _salvage(place: Path, agent: str) -> bool:
    """Commit everything in it to a branch of its own; the agent's branch stays as it was."""
    name, number = f"{BRANCHES}salvage/{agent}", 1
    while not (await _git(place, "rev-parse", "--verify", "--quiet", f"refs/heads/{name}")).code:
        number += 1
        name = f"{BRANCHES}salvage/{agent}-{number}"
    words = f"Keep what {agent} left in its worktree"
    by_moot = ("-c", "user.name=Moot", "-c", "user.email=moot@localhost", "-c", "commit.gpgSign=false")
    for step in (
        ("switch", "--quiet", "--create", name),
        ("add", "--all"),
        (*by_moot, "commit", "--quiet", "--allow-empty", "--no-verify", f"--message={words}"),
    ):
        done = await _git(place, *step)
        if done.code:
            log.warning(
                "cannot be salvaged", action="worktree_not_salvaged", agent=agent, error=done.text[-300:]
            )
            return False
    log.info(f"the work of {agent} is on {name}", action="worktree_salvaged", agent=agent, branch=name)
    return True


async def _work_in(place: Path, own: str) -> str:
    """What would be lost with a worktree; empty where nothing would."""
    # submodules are left to git, which removes no worktree that has one
    status = await _git(
        place, "status", "--porcelain", "--untracked-files=all", "--ignored=no", "--ignore-submodules=all"
    )
    if status.code:
        return "git cannot tell what is in it"
    if status.lines:
        return f"{len(status.lines)} files are not committed"
    # not --all, which has HEAD in it: nothing would ever be somebody's own
    elsewhere = (f"--exclude={own}", "--branches", "--tags", "--remotes")
    others = await _git(place, "rev-list", "--count", "HEAD", "--not", *elsewhere, "--")
    if others.code:
        return "git cannot tell what is in it"
    own_commits = int(others.text.strip() or 0)
    return f"{own_commits} commits are on no other branch" if own_commits else ""


async def _git(folder: Path, *words: str) -> GitAnswer:
    """Git, with every program switched off that the repository's own settings name; those of the user stay."""
    query = ("config", "--show-scope", "--name-only", "--get-regexp", PROGRAMS)
    result = await _run(folder, "git", "-C", str(folder), *query, seconds=GIT_SECONDS, settings=QUIET)
    scopes = [line.partition("\t") for line in result.lines if not result.code]
    theirs = [name for scope, _, name in scopes if scope in ("local", "worktree")]
    filters = {name: "false" if name.endswith(".required") else "" for name in theirs}
    words = ("git", "-C", str(folder), *words)
    return await _run(folder, *words, seconds=GIT_SECONDS, settings={**QUIET, **filters})


async def _run(
    folder: Path, *argv: str, seconds: float, settings: Mapping[str, str] | None = None
) -> GitAnswer:
    """Run a program without a shell and without anything to ask; with its words, whichever way they came."""
    try:
        process = await asyncio.create_subprocess_exec(
            *argv,
            cwd=folder,
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            env={**_surroundings(), **_as_variables(settings or {})},
            start_new_session=True,
        )
    except OSError as trouble:  # no such folder, or no such program
        return GitAnswer(127, str(trouble))
    try:
        text, _ = await asyncio.wait_for(process.communicate(), seconds)
    except TimeoutError:
        process.kill()
        await process.wait()
        return GitAnswer(124, f"{argv[0]} took longer than {seconds:g} s")
    return GitAnswer(process.returncode or 0, text.decode(errors="replace"))


def _as_variables(settings: Mapping[str, str]) -> dict[str, str]:
    """Settings of git, as its environment carries them; with nobody there whom it could ask."""
    variables = {"GIT_TERMINAL_PROMPT": "0", "GIT_CONFIG_COUNT": str(len(settings))}
    for number, (name, value) in enumerate(settings.items()):
        variables |= {f"GIT_CONFIG_KEY_{number}": name, f"GIT_CONFIG_VALUE_{number}": value}
    return variables


def _surroundings() -> dict[str, str]:
    """What git needs to know of its user; nothing that names another repository or a secret."""
    names = ("PATH", "HOME", "USER", "LANG", "TMPDIR", "XDG_CONFIG_HOME")
    return {name: os.environ[name] for name in names if name in os.environ}
