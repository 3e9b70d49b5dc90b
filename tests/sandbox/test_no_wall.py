"""Where there is no wall, or it would not hold, the tool is off and says why; only the settings can ask for less."""

from pathlib import Path
from typing import Any

import pytest

from moot.brain import Tool
from moot.tools import Sandbox, ShellTool, offered
from tests.sandbox.conftest import World

pytestmark = pytest.mark.req("K-10")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "project").mkdir()
    return tmp_path / "project"


async def test_without_bubblewrap_the_shell_is_off_and_says_why(project: Path, tmp_path: Path) -> None:
    none = Sandbox.find(path=str(tmp_path))
    offer = offered(("shell:git,ls", "text-tools"), project, tmp_path / "home", sandbox=none)
    assert offer.tools == ()
    assert not offer.text_form
    assert offer.off == (
        (
            "shell is off: bubblewrap (bwrap) is not installed. Install it (Debian, Ubuntu: apt install bubblewrap), "
            "or write shell-unsandboxed:git,ls to run without a sandbox."
        ),
    )
    called_all_the_same = ShellTool(("ls",), project, sandbox=none, hidden=(tmp_path / "home",))
    result = await called_all_the_same.run({"argv": ["ls"]}, None)
    assert result.failed
    assert "bubblewrap (bwrap) is not installed" in result.text


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (
            "#!/bin/sh\necho 'bwrap: No permissions to create a new namespace' >&2; exit 1",
            "No permissions to create",
        ),
        ("#!/bin/sh\nexit 3", "exit code 3"),
        ("#!/nowhere/sh\n", "cannot be run"),
    ],
)
def test_a_bubblewrap_that_does_not_work_here_is_none(script: str, words: str, tmp_path: Path) -> None:
    broken = tmp_path / "bwrap"
    broken.write_text(script, encoding="utf-8")
    broken.chmod(0o755)
    assert words in Sandbox.find(path=str(tmp_path)).why_off


def test_with_bubblewrap_it_is_offered(project: Path, tmp_path: Path, sandbox: Sandbox) -> None:
    offer = offered(("shell:git,ls", "text-tools", "notes"), project, tmp_path / "home")
    (tool,) = (tool for tool in offer.tools if tool.spec.name == "shell")
    checked: Tool = tool
    assert (offer.off, offer.text_form) == ((), True)
    assert checked.spec.name == "shell"
    assert "git, ls" in checked.spec.description
    assert not checked.spec.idempotent


async def test_without_a_wall_it_runs_only_where_the_settings_say_so(project: Path, tmp_path: Path) -> None:
    offer = offered(
        ("shell-unsandboxed:printf",), project, tmp_path / "home", sandbox=Sandbox(why_off="none here")
    )
    assert offer.off == ()
    no_turn: Any = None
    assert (await offer.tools[0].run({"argv": ["printf", "hi"]}, no_turn)).text == "exit code 0\nhi"
    assert (await offer.tools[0].run({"argv": ["ls"]}, no_turn)).failed


def test_nothing_is_offered_where_nothing_is_set(project: Path, tmp_path: Path) -> None:
    assert offered((), project, tmp_path / "home").tools == ()
    others = offered(("notes", "tasks"), project, tmp_path / "home").tools
    assert "shell" not in {tool.spec.name for tool in others}


@pytest.mark.parametrize(
    ("folder", "words"),
    [
        ("/", "is the whole file system"),
        ("/etc", "is a part of the system"),
        ("/proc/self", "is a part of the system"),
        ("/usr", "contains /usr"),
        ("/tmp", "contains /tmp"),
        ("~", "far more than one project"),
        ("~/..", ""),
        ("HOME", "is Moot's own home"),
        ("HOME/run", "is Moot's own home"),
        ("HOME/agents", "is Moot's own home"),
        ("link-to-home", "is Moot's own home"),
    ],
)
def test_a_folder_that_is_more_than_a_project_is_not_opened(folder: str, words: str, world: World) -> None:
    (world.project / "link-to-home").symlink_to(world.home)
    path = Path(folder.replace("HOME", str(world.home))).expanduser()
    path = world.project / path if folder.startswith("link") else path
    offer = offered(("shell:ls",), path, world.home)
    assert offer.tools == ()
    assert offer.off[0].startswith(f"shell is off: the project {path} ")
    assert words in offer.off[0]


@pytest.mark.parametrize("walled", [True, False])
async def test_what_is_missing_is_told(walled: bool, world: World) -> None:
    tool = world.walled if walled else world.bare
    tool.allowed = ("no-such-program",)
    told = await tool.run({"argv": ["no-such-program"]}, None)
    assert told.text == ("no-such-program is allowed, but not installed in /usr/local/bin, /usr/bin, /bin.")
    gone = ShellTool(("ls",), world.project / "gone", sandbox=tool.sandbox, hidden=tool.hidden)
    told = await gone.run({"argv": ["ls"]}, None)
    assert told.failed
    assert "does not exist; its owner has to create it" in told.text


def test_a_sandbox_is_tried_only_once(sandbox: Sandbox) -> None:
    assert Sandbox.find() is sandbox
