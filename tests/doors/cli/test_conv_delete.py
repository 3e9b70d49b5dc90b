"""`moot conv delete` asks first: at a terminal it waits for a yes, elsewhere it wants --yes."""

import os
import pty
import subprocess
from pathlib import Path

import pytest

from tests.doors.cli.shell import MOOT, Shell, make_home
from tests.support.waiting import PATIENCE


@pytest.fixture
def talked(tmp_path: Path) -> Shell:
    shell = make_home(tmp_path / "home", agents={})
    assert shell.moot("conv", "new", "build").code == 0
    assert shell.moot("send", "--conv", "build", "hello", "--no-wait").code == 0
    return shell


def answered(shell: Shell, answer: str) -> tuple[int, str]:
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [MOOT, "conv", "delete", "build"],
            stdin=theirs,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=shell.environ(),
        )
        os.write(ours, f"{answer}\n".encode())
        out, _ = process.communicate(timeout=PATIENCE)
    finally:
        os.close(ours)
        os.close(theirs)
    return process.returncode, out.decode()


@pytest.mark.req("A-02")
def test_a_no_keeps_it_and_a_yes_erases_it(talked: Shell) -> None:
    code, screen = answered(talked, "n")
    assert code == 130
    assert "Delete #build and its whole history?" in screen
    assert talked.moot("conv", "show", "build").code == 0
    code, screen = answered(talked, "y")
    assert code == 0, screen
    assert talked.moot("conv", "show", "build").code == 3
    assert talked.moot("search", "hello", "--json").json == []


@pytest.mark.req("A-02")
def test_without_a_terminal_it_names_the_flag(talked: Shell) -> None:
    told = talked.moot("conv", "delete", "build")
    assert told.code == 2
    assert "--yes" in told.err
    assert talked.moot("conv", "delete", "build", "--yes", "--json").code == 0
    assert talked.moot("conv", "delete", "build", "--yes").code == 3
