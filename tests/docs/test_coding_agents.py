"""What the how-to on coding agents shows is what happens, with stand-ins in place of the clients."""

import re
import subprocess
import sys
from pathlib import Path

from tests.support.coding_clients import Desk

PAGE = Path(__file__).parents[2] / "docs/howto/coding-agents.md"
MOOT = Path(sys.executable).with_name("moot")


def shown(command: str) -> str:
    """What the page shows below a command."""
    [block] = re.findall(rf"```console\n\$ {re.escape(command)}\n(.*?)```", PAGE.read_text(), re.DOTALL)
    found: str = block
    return found


def said(desk: Desk, command: str, *more: str) -> str:
    words = command.split()[1:]
    environ = {**desk.environ(), "TZ": "UTC", "PYTHONPATH": str(Path(__file__).parents[2])}
    done = subprocess.run(
        [MOOT, *words, *more],
        env=environ,
        cwd=desk.project,
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    text = done.stdout.replace(f"{desk.bin}/", "/usr/local/bin/").replace(
        str(MOOT), "/home/karl/.local/bin/moot"
    )
    return without_times(text)


def without_times(text: str) -> str:
    return re.sub(r"\d+\.\d s\b", "N s", text)


def test_install_and_uninstall_say_what_the_page_shows(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "karl", "claude", "codex")
    command = "moot mcp install claude codex"
    expected = without_times(shown(command)).replace("Continue? [Y/n]: y\n", "")
    assert said(desk, command, "--yes") == expected
    said(desk, "moot mcp install --wake claude", "--yes")
    assert said(desk, "moot mcp uninstall") == shown("moot mcp uninstall")


def test_status_has_the_columns_that_the_page_shows(tmp_path: Path) -> None:
    desk = Desk(tmp_path / "karl", "claude", "codex")
    heads = shown("moot mcp status").splitlines()[0].split()
    assert said(desk, "moot mcp status").splitlines()[0].split() == heads


def test_the_server_that_install_registers_starts_and_is_timed(tmp_path: Path) -> None:
    """The other tests take that for granted; here it is started as a client would."""
    desk = Desk(tmp_path / "karl", "codex")
    told = said(desk, "moot mcp install codex", "--yes")
    assert "server started in N s (Codex allows 10 s)" in told
    assert said(desk, "moot agents list", "--json").strip() == "[]", "trying it out makes nobody known"
