"""Fixtures of the command line's tests."""

from collections.abc import Callable
from pathlib import Path

import pytest

from moot.cli.app import run
from tests.doors.cli.shell import Shell, Told, make_home


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return make_home(tmp_path / "home")


@pytest.fixture
def moot(
    shell: Shell, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Callable[..., Told]:
    """The command line inside this process: the same code, without a process each time."""
    for name in ("NO_COLOR", "FORCE_COLOR", "MOOT_ASCII", "ANTHROPIC_API_KEY", "OPENAI_API_KEY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("MOOT_HOME", str(shell.home))

    def typed(*words: str) -> Told:
        capsys.readouterr()
        code = run(list(words))
        told = capsys.readouterr()
        return Told(code, told.out, told.err)

    return typed
