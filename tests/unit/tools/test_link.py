"""`make install` and `make uninstall`: a link to the command, and nothing of anybody else's touched."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[3]
COMMAND = Path(sys.executable).with_name("moot")


class Prefix:
    def __init__(self, path: Path) -> None:
        self.path = path
        self.moot = path / "bin" / "moot"

    def link(self, verb: str, *, on_path: bool = True) -> "subprocess.CompletedProcess[str]":
        path = f"{self.moot.parent}:/usr/bin:/bin" if on_path else "/usr/bin:/bin"
        environ = {"PREFIX": str(self.path), "PATH": path, "HOME": "/nowhere"}
        script = ROOT / "tools" / "link.sh"
        return subprocess.run(
            [script, verb], env=environ, capture_output=True, text=True, timeout=30, check=False
        )


@pytest.fixture
def prefix(tmp_path: Path) -> Prefix:
    return Prefix(tmp_path / "local")


def test_the_command_can_be_typed_once_it_is_installed_and_is_gone_afterwards(prefix: Prefix) -> None:
    assert prefix.link("install").returncode == 0
    assert os.readlink(prefix.moot) == str(ROOT / ".venv" / "bin" / "moot")
    if COMMAND == ROOT / ".venv" / "bin" / "moot":
        told = subprocess.run([prefix.moot, "--version"], capture_output=True, text=True, check=True)
        assert told.stdout.startswith("moot ")
    assert prefix.link("install").returncode == 0
    assert "removed" in prefix.link("uninstall").stdout
    assert not prefix.moot.is_symlink()
    assert "nothing to remove" in prefix.link("uninstall").stdout


def test_who_has_not_got_the_folder_on_the_path_is_told_how(prefix: Prefix) -> None:
    assert "not on your PATH" not in prefix.link("install").stdout
    assert f'export PATH="{prefix.moot.parent}:$PATH"' in prefix.link("install", on_path=False).stdout


def test_another_moot_is_left_alone_and_a_dead_link_is_not(prefix: Prefix) -> None:
    prefix.moot.parent.mkdir(parents=True)
    prefix.moot.write_text("somebody else's")
    refused = prefix.link("install")
    assert refused.returncode == 1
    assert f"{prefix.moot} is there already" in refused.stderr
    assert "nothing to remove" in prefix.link("uninstall").stdout
    assert prefix.moot.read_text() == "somebody else's"
    prefix.moot.unlink()
    prefix.moot.symlink_to("/no/such/moot")
    assert prefix.link("install").returncode == 0


def test_make_knows_both() -> None:
    for verb in ("install", "uninstall"):
        told = subprocess.run(
            ["make", "-n", "--no-print-directory", "-o", ".venv/.installed", verb],
            cwd=ROOT,
            capture_output=True,
            text=True,
            check=True,
        )
        assert told.stdout == f"tools/link.sh {verb}\n"
