"""`moot doctor` and `moot explain`."""

from collections.abc import Callable

import pytest

from moot.errors import tree
from tests.doors.cli.shell import Shell, Told

Moot = Callable[..., Told]


def test_all_is_well(moot: Moot) -> None:
    moot("send", "arya", "hello")
    told = moot("doctor")
    assert told.code == 0
    assert told.out.splitlines()[-1] == "All good."
    checks = {check["check"]: check for check in moot("doctor", "--json").json["checks"]}
    assert set(checks) == {"moot", "sqlite", "home", "moot.toml", "hub", "database"}
    assert checks["database"]["text"].startswith("2 messages, integrity ok, all chains verified")


def test_the_worst_comes_first_with_its_fix(shell: Shell, moot: Moot) -> None:
    moot("send", "arya", "hello")
    shell.home.chmod(0o755)
    (shell.home / "moot.toml").write_text("[hub]\nport = 99999999\n", encoding="utf-8")
    told = moot("doctor")
    assert told.code == 1
    first, _, third, *_ = told.out.splitlines()
    assert first.startswith("✗ moot.toml: moot.toml:2:")
    assert any(line.startswith("!") for line in (third, *told.out.splitlines()))


def test_settings_that_do_nothing_yet_are_said(shell: Shell, moot: Moot) -> None:
    with (shell.home / "moot.toml").open("a", encoding="utf-8") as file:
        file.write('[[links]]\nfrom = "arya"\nto = "gendry"\n')
    assert "links is accepted, but this version does nothing with it yet" in moot("doctor").out


def test_it_makes_nothing(shell: Shell, moot: Moot) -> None:
    before = sorted(path.name for path in shell.home.iterdir())
    assert moot("doctor").code == 0
    assert sorted(path.name for path in shell.home.iterdir()) == before


@pytest.mark.parametrize("kind", tree(), ids=lambda kind: kind.code)
def test_every_code_is_explained(moot: Moot, kind: type) -> None:
    told = moot("explain", kind.code)  # type: ignore[attr-defined]
    assert told.code == 0
    assert told.out.startswith(f"{kind.code}  ")  # type: ignore[attr-defined]
    assert "Exit code" in told.out


def test_a_code_nobody_gave(moot: Moot) -> None:
    assert moot("explain", "E999").code == 3
