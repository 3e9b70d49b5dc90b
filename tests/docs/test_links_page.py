"""The page on links: its commands are typed in this order, and say what it shows."""

import re
import shlex
from pathlib import Path

import pytest

from tests.doors.cli.shell import Shell

PAGE = Path(__file__).parents[2] / "docs/howto/link-agents.md"
NAMES = ("manager", "support", "engineering", "finance")


@pytest.mark.req("S-12")
def test_the_commands_of_the_page_say_what_it_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    home.mkdir(mode=0o700)
    (home / "moot.toml").write_text(
        "".join(f'[[agents]]\nname = "{name}"\nbrain = "demo"\n' for name in NAMES)
    )
    shell = Shell(home)
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    shown = [
        piece.partition("\n")
        for block in blocks
        for piece in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]
    ]
    assert len(shown) > 12
    monkeypatch.chdir(tmp_path)
    for line, _, answer in shown:
        moot, *words = shlex.split(line)
        assert moot == "moot"
        found = shell.moot(*words)
        assert found.out == answer or "demo" in words, (line, found.err)
        assert found.code in (0, 1), (line, found.err)
