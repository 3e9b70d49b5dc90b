"""An agent that can write files wants them read as the owner's words, or wants to read what is the owner's (B1)."""

import os
import shutil
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.brains.code import AgentSpec
from moot.cli.run.doctor_checks import everything
from moot.errors import BadSettings, BadValue
from moot.hub.archive import backups
from moot.hub.process.owner_token import owner_token
from moot.model.prompt import Prompt
from moot.settings import Home, load
from moot.tools import Sandbox, ShellTool

SECRET = "canary-4d10c3"
Plant = Callable[[Path, Path], Any]
"""Puts something in the place of an identity file that leads to a secret."""


def hard_link(place: Path, secret: Path) -> None:
    os.link(secret, place)


def folder_link(place: Path, secret: Path) -> None:
    """The workspace itself becomes a link to a folder with a file of that name."""
    elsewhere = secret.parent / "elsewhere"
    elsewhere.mkdir()
    shutil.copy(secret, elsewhere / place.name)
    place.parent.rmdir()
    place.parent.symlink_to(elsewhere)


def link_chain(place: Path, secret: Path) -> None:
    (place.parent / "NOTES.md").symlink_to(secret)
    place.symlink_to("NOTES.md")


def pipe(place: Path, secret: Path) -> None:
    os.mkfifo(place)


def folder(place: Path, secret: Path) -> None:
    place.mkdir()


def listening(place: Path, secret: Path) -> None:
    with socket.socket(socket.AF_UNIX) as end:
        here = os.getcwd()
        os.chdir(place.parent)
        try:
            end.bind(place.name)
        finally:
            os.chdir(here)


PLANTS: dict[str, Plant] = {
    "a link": lambda place, secret: place.symlink_to(secret),
    "a link with dots": lambda place, secret: place.symlink_to(os.path.relpath(secret, place.parent)),
    "a chain of links": link_chain,
    "a hard link": hard_link,
    "a workspace that is a link": folder_link,
    "a device": lambda place, secret: place.symlink_to("/dev/zero"),
    "a pipe": pipe,
    "a folder": folder,
    "a socket": listening,
}


async def next_prompt(home: Home, monkeypatch: pytest.MonkeyPatch) -> str:
    """What the agent's model is told at its next turn."""
    prompts: list[Prompt] = []

    async def think(turn: Any) -> str:
        prompts.append(await turn.prompt())
        return "noted"

    async with Hub.open(home.path, agents=[AgentSpec("arya", think, prompted=True)]) as hub:
        await hub.ask("arya", "hello", timeout=40)
    return prompts[0].system


@pytest.mark.req("S-08")
@pytest.mark.parametrize("plant", PLANTS.values(), ids=PLANTS)
async def test_what_lies_behind_an_identity_file_is_not_put_into_the_next_prompt(
    plant: Plant, home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    workspace = home.agents / "arya"
    workspace.mkdir()
    secret = home.run / "secret"
    secret.write_text(SECRET)
    (workspace / "SOUL.md").write_text(SECRET)
    assert SECRET in await next_prompt(home, monkeypatch)  # a plain file is read
    (workspace / "SOUL.md").unlink()
    plant(workspace / "SOUL.md", secret)
    assert SECRET not in await next_prompt(home, monkeypatch)


async def test_the_owners_token_is_not_read_through_an_identity_file(
    home: Home, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = owner_token(home)
    (home.agents / "arya").mkdir()
    (home.agents / "arya" / "SOUL.md").symlink_to("../../run/token")
    assert token not in await next_prompt(home, monkeypatch)


@pytest.mark.parametrize("plant", [PLANTS["a link"], hard_link, folder_link, pipe])
async def test_a_backup_does_not_carry_away_what_an_identity_file_leads_to(plant: Plant, home: Home) -> None:
    async with Hub.open(home.path):
        pass
    secret = home.run / "secret"
    secret.write_text(SECRET)
    for name in ("arya", "bran"):
        (home.agents / name).mkdir()
    (home.agents / "bran" / "SOUL.md").write_text("I am calm.")
    plant(home.agents / "arya" / "SOUL.md", secret)
    beside = backups.create(home).path.with_suffix(".files")
    kept = {path.relative_to(beside): path.read_text() for path in beside.rglob("*.md")}
    assert kept == {Path("agents/bran/SOUL.md"): "I am calm."}


async def test_a_restore_does_not_write_through_a_link_in_a_workspaces_place(
    home: Home, tmp_path: Path
) -> None:
    async with Hub.open(home.path):
        pass
    (home.agents / "arya").mkdir()
    (home.agents / "arya" / "SOUL.md").write_text("I am calm.")
    made = backups.create(home)
    shutil.rmtree(home.agents / "arya")
    outside = tmp_path / "outside"
    outside.mkdir()
    (home.agents / "arya").symlink_to(outside)
    restored = backups.restore(home, made.path)
    assert list(outside.iterdir()) == []
    assert restored.files == ()


async def test_the_doctor_says_which_identity_files_are_not_read(home: Home) -> None:
    (home.agents / "arya").mkdir()
    (home.agents / "arya" / "SOUL.md").symlink_to("../../run/token")
    (home.agents / "arya" / "ROLE.md").write_text("calm")
    told = [check.text for check in await everything(home) if "is ignored" in check.text]
    assert told == ["agents/arya/SOUL.md is ignored: it is a link, not a regular file"]


ROW = '\n[[agents]]\nname = "arya"\nbrain = "demo"\n'
SHELL = 'tools = ["{}:git"]\n'


@pytest.mark.parametrize("tool", ["shell", "shell-unsandboxed"])
@pytest.mark.parametrize(
    ("project", "how"),
    [
        (None, "is Moot's own home"),
        (".", "is Moot's own home"),
        ("agents/arya", "is inside Moot's own home"),
        ("agents/arya/work", "is inside Moot's own home"),
        ("run", "is inside Moot's own home"),
        ("../linked", "is inside Moot's own home"),
        ("..", "contains Moot's own home"),
    ],
)
def test_a_tool_is_not_given_the_home_to_work_in(
    tool: str, project: str | None, how: str, home: Home, tmp_path: Path
) -> None:
    (tmp_path / "linked").symlink_to(home.agents)
    (tmp_path / "work").mkdir()
    home.toml.write_text(ROW + SHELL.format(tool) + 'project = "../work"\n')
    assert load(home).agents[0].project == "../work"
    home.toml.write_text(ROW + SHELL.format(tool) + (f'project = "{project}"\n' if project else ""))
    with pytest.raises(BadSettings) as refused:
        load(home)
    assert refused.value.title.startswith(f"moot.toml:{6 if project else 5}:")
    assert how in refused.value.title


def test_a_row_without_a_tool_keeps_its_default(home: Home) -> None:
    home.toml.write_text(ROW)
    assert load(home).agents[0].project == "."


@pytest.mark.parametrize("walled", [True, False])
async def test_a_tool_looks_again_where_its_project_leads_when_it_runs(
    walled: bool, home: Home, tmp_path: Path
) -> None:
    work = tmp_path / "work"
    work.mkdir()
    sandbox = Sandbox.find() if walled else None
    tool = ShellTool(("ls",), work, sandbox=sandbox, hidden=(home.path,))
    assert (await tool.run({"argv": ["ls"]}, None)).text == "exit code 0\n(no output)"
    work.rmdir()
    work.symlink_to(home.agents)
    assert (await tool.run({"argv": ["ls"]}, None)).failed
    late = ShellTool(("ls",), work, sandbox=sandbox, hidden=(home.path,))
    told = await late.run({"argv": ["ls"]}, None)
    assert told.failed
    assert "is Moot's own home" in told.text


@pytest.mark.parametrize("project", [".", "agents/arya", "HOME", "HOME/run", "HOME/.."])
async def test_a_token_cannot_make_the_home_its_project(project: str, home: Home, tmp_path: Path) -> None:
    async with Hub.open(home.path) as hub:
        await hub.agents.create("arya", external=True)
        assert (await hub.agents.change("arya", project=str(tmp_path / "work"))).project
        with pytest.raises(BadValue, match="Moot's own home"):
            await hub.agents.change("arya", project=project.replace("HOME", str(home.path)))
