"""The page on shared notes: its commands are typed in this order, and say what it shows."""

import re
import shlex
from pathlib import Path

import pytest

from tests.doors.cli.shell import make_home

PAGE = Path(__file__).parents[2] / "docs/howto/share-notes.md"


@pytest.mark.req("S-15")
def test_the_commands_of_the_page_say_what_it_shows(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home")
    blocks = re.findall(r"```console\n(.*?)```", PAGE.read_text(), re.DOTALL)
    shown = [piece.partition("\n") for block in blocks for piece in block.split("$ ")[1:]]
    assert len(shown) > 5
    for line, _, answer in shown:
        moot, *words = shlex.split(line)
        assert moot == "moot"
        assert shell.moot(*words).out == answer, line
