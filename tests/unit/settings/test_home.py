"""The home folder: where it is, what is in it, who may look (INTERFACES "Home and settings")."""

import os
import stat
from pathlib import Path

import pytest

from moot.errors import BadSettings
from moot.settings import Home, find_home


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(
    ("option", "environ", "expected"),
    [
        ("/a", {"MOOT_HOME": "/b", "HOME": "/h"}, "/a"),
        ("~/a", {"HOME": "/h"}, "/h/a"),
        (None, {"MOOT_HOME": "/b", "HOME": "/h"}, "/b"),
        (None, {"MOOT_HOME": "~", "HOME": "/h"}, "/h"),
        (None, {"MOOT_HOME": "", "HOME": "/h"}, "/h/.moot"),
        (None, {"HOME": "/h"}, "/h/.moot"),
    ],
)
def test_the_option_comes_before_the_variable_and_that_before_the_default(
    option: str | None, environ: dict[str, str], expected: str
) -> None:
    assert find_home(option, environ) == Path(expected)


def test_a_relative_home_becomes_absolute(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_home("team", {}) == tmp_path / "team"


@pytest.mark.parametrize("option", ["", "  ", "a\0b"])
def test_an_option_that_names_nothing_is_refused(option: str) -> None:
    with pytest.raises(BadSettings, match="--home is not a folder"):
        find_home(option, {"HOME": "/h"})


def test_everything_has_its_place() -> None:
    home = Home(Path("/m"))
    assert [str(p) for p in (home.toml, home.db, home.keys)] == ["/m/moot.toml", "/m/moot.db", "/m/keys.json"]
    assert [str(p) for p in (home.run, home.logs, home.backups, home.agents)] == [
        *("/m/run", "/m/logs", "/m/backups", "/m/agents")
    ]
    assert [str(p) for p in (home.hub_json, home.hub_sock, home.token, home.run_agents)] == [
        *("/m/run/hub.json", "/m/run/hub.sock", "/m/run/token", "/m/run/agents")
    ]


@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
def test_a_new_home_is_for_its_owner_alone(tmp_path: Path, umask: int) -> None:
    home = Home(tmp_path / "deep" / "home")
    before = os.umask(umask)
    try:
        home.make()
        home.make()
    finally:
        os.umask(before)
    for path in (home.path, home.run, home.run_agents, home.logs, home.backups, home.agents):
        assert mode(path) == 0o700


@pytest.mark.parametrize("inside", [None, "moot.toml", "moot.db"])
def test_an_empty_folder_or_an_open_home_of_ones_own_is_closed_to_others(
    tmp_path: Path, inside: str | None
) -> None:
    tmp_path.chmod(0o777)
    if inside:
        (tmp_path / inside).touch()
    Home(tmp_path).make()
    assert mode(tmp_path) == 0o700


def test_a_folder_of_other_things_that_others_can_write_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").touch()
    tmp_path.chmod(0o1777)
    with pytest.raises(BadSettings, match=r"can be written by other users \(mode 1777\)") as caught:
        Home(tmp_path).make()
    assert mode(tmp_path) == 0o1777
    assert not (tmp_path / "run").exists()
    assert caught.value.fix[0] == f"chmod 700 {tmp_path}"
    assert caught.value.facts["key"] == "home"


def test_a_folder_of_other_things_that_only_the_owner_writes_keeps_its_mode(tmp_path: Path) -> None:
    (tmp_path / "letters.txt").touch()
    tmp_path.chmod(0o755)
    Home(tmp_path).make()
    assert mode(tmp_path) == 0o755
    assert mode(tmp_path / "run") == 0o700


@pytest.mark.parametrize(("bits", "refused"), [(0o775, True), (0o757, True), (0o755, False)])
def test_somebody_elses_folder_is_refused_when_others_can_write_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, bits: int, refused: bool
) -> None:
    tmp_path.chmod(bits)
    monkeypatch.setattr(os, "geteuid", lambda: 54321)
    if refused:
        with pytest.raises(BadSettings, match="can be written by other users"):
            Home(tmp_path).make()
    else:
        Home(tmp_path).make()
    assert mode(tmp_path) == bits


def test_an_open_run_folder_is_closed(tmp_path: Path) -> None:
    home = Home(tmp_path)
    home.make()
    home.run.chmod(0o777)
    home.make()
    assert mode(home.run) == 0o700


def test_a_file_in_the_way_is_refused(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BadSettings, match="is not a folder"):
        Home(tmp_path / "file").make()
    with pytest.raises(BadSettings, match="is inside something that is not a folder"):
        Home(tmp_path / "file" / "x" / "y").make()


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "mkdir", refuse)
    with pytest.raises(BadSettings, match="cannot be created: Permission denied"):
        Home(tmp_path / "x").make()
