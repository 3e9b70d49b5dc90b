"""Lines that are printed to be copied."""

import shlex
import subprocess
from pathlib import Path

import pytest

from moot.cli.run.examples import claude_line, curl_line, shell_word
from moot.settings import Home


def test_they_name_ones_own_home_as_a_shell_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    home = Home(tmp_path / "my team")
    for line in (curl_line(home, "http://127.0.0.1:1"), claude_line(home)):
        assert str(tmp_path) not in line
        assert "~/'my team" in line


@pytest.mark.parametrize("path", ["a b/moot", "it's", "plain/moot", "$HOME/`x`"])
def test_a_shell_reads_them_as_they_were_meant(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    meant = [f"{tmp_path}/{path}", f"{tmp_path}x/{path}", f"~/{path}", path]
    script = f"printf '%s\\n' {' '.join(map(shell_word, meant))}"
    done = subprocess.run(["sh", "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == meant
    assert [shell_word(word) == shlex.quote(word) for word in meant] == [False, True, True, True]
