"""What the how-to on coding agents shows is what happens, with stand-ins in place of the clients."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.cli.app import run
from moot.cli.mcp.clients import probe
from moot.cli.mcp.clients.entry import this_moot
from tests.support.coding_clients import Desk
from tests.support.waiting import PATIENCE

PAGE = Path(__file__).parents[2] / "docs/howto/coding-agents.md"
[MOOT] = this_moot()
Said = Callable[..., str]


def shown(command: str) -> str:
    """What the page shows below a command."""
    [block] = re.findall(rf"```console\n\$ {re.escape(command)}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found: str = block
    return found


@pytest.fixture
def said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Said:
    """What a command says to somebody who has both clients."""
    desk = Desk(tmp_path / "karl", "claude", "codex")
    for key, value in {**desk.environ(), "TZ": "UTC"}.items():
        monkeypatch.setenv(key, value)
    for key in ("MOOT_HOME", "CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME"):
        monkeypatch.delenv(key, raising=False)
    monkeypatch.chdir(desk.project)

    def typed(command: str, *more: str) -> str:
        capsys.readouterr()
        code = run([*command.split()[1:], *more])
        told = capsys.readouterr()
        assert code == 0, told.err
        text = told.out.replace(f"{desk.bin}/", "/usr/local/bin/").replace(MOOT, "/home/karl/.local/bin/moot")
        return without_times(text)

    return typed


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d s\b", "N s", text)


def test_install_and_uninstall_say_what_the_page_shows(said: Said, monkeypatch: pytest.MonkeyPatch) -> None:
    """However long a server takes to start on the machine that tries it."""
    monkeypatch.setattr("moot.cli.mcp.clients.report.seconds_to_start", lambda: 0.4)
    command = "moot mcp install claude codex"
    expected = without_times(shown(command)).replace("Continue? [Y/n]: y\n", "")
    assert said(command, "--yes") == expected
    said("moot mcp install --wake claude", "--yes")
    assert said("moot mcp uninstall") == shown("moot mcp uninstall")


def test_status_has_the_columns_that_the_page_shows(said: Said) -> None:
    heads = shown("moot mcp status").splitlines()[0].split()
    assert said("moot mcp status").splitlines()[0].split() == heads


def test_the_server_that_install_registers_starts_and_is_timed(said: Said) -> None:
    """The other tests take that for granted; here it is started as a client would."""
    took = probe.seconds_to_start(PATIENCE)
    assert took is not None
    assert took > 0
    assert said("moot agents list", "--json").strip() == "[]", "trying it out makes nobody known"
