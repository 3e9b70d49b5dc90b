"""`moot config`: reads what holds, changes one value, refuses what would not load."""

import os
import pty
import stat
import subprocess
from collections.abc import Callable

import pytest

from tests.doors.cli.shell import MOOT, Shell, Told

Moot = Callable[..., Told]


@pytest.fixture
def own(shell: Shell) -> Shell:
    text = (
        '# mine\n[hub]\nport = 8420   # node has 8000\n\n[[agents]]\nname = "arya"   # first\nrole = "old"\n'
    )
    (shell.home / "moot.toml").write_text(text, encoding="utf-8")
    return shell


def file_of(shell: Shell) -> str:
    return (shell.home / "moot.toml").read_text(encoding="utf-8")


def test_it_says_where_the_file_is(own: Shell, moot: Moot) -> None:
    assert moot("config", "path").out == f"{own.home}/moot.toml\n"
    assert moot("config", "path", "--json").json == {"path": f"{own.home}/moot.toml", "exists": True}


def test_every_value_comes_with_its_source(own: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_GROUPS__MAX_DEPTH", "7")
    found = {row["key"]: row for row in moot("config", "list", "--json").json}
    assert found["hub.port"] == {"key": "hub.port", "value": 8420, "source": "file"}
    assert found["groups.max_depth"] == {"key": "groups.max_depth", "value": 7, "source": "environment"}
    assert found["agents.arya.brain"] == {"key": "agents.arya.brain", "value": "demo", "source": "default"}
    assert found["housekeeping.backups_keep"]["value"] == 7
    only = {row["key"] for row in moot("config", "list", "--set", "--json").json}
    assert only == {"hub.port", "groups.max_depth", "agents.arya.name", "agents.arya.role"}
    assert "hub.port" in moot("config", "list").out


def test_one_value_alone_is_the_answer(own: Shell, moot: Moot) -> None:
    assert moot("config", "get", "hub.port", "-q").out == "8420\n"
    assert moot("config", "get", "agents.arya.role", "-q").out == "old\n"
    told = moot("config", "get", "hub.prt")
    assert told.code == 3
    assert "did you mean hub.port or " in told.err


def test_setting_keeps_comments_and_layout(own: Shell, moot: Moot) -> None:
    before = file_of(own)
    told = moot("config", "set", "hub.port", "8421", "--json").json
    assert told == {"key": "hub.port", "value": 8421, "previous": 8420, "path": f"{own.home}/moot.toml"}
    assert file_of(own) == before.replace("8420", "8421")
    assert moot("config", "set", "agents.arya.project", "../work").code == 0
    assert moot("config", "set", "agents.arya.tools", "shell:git,ls;notes").code == 0
    assert 'role = "old"\nproject = "../work"\ntools = ["shell:git,ls", "notes"]\n' in file_of(own)
    assert moot("config", "set", "housekeeping.archive_after_days", "30").code == 0
    assert file_of(own).endswith("\n[housekeeping]\narchive_after_days = 30\n")
    assert moot("config", "get", "housekeeping.archive_after_days", "-q").out == "30\n"


@pytest.mark.parametrize(
    ("key", "value", "words"),
    [
        ("hub.port", "many", "expected a whole number from 0 to 65535"),
        ("hub.port", "70000", 'hub.port cannot be "70000"'),
        ("groups.reply_strategy", "loud", "one of hybrid, mention_only, round_robin"),
        ("hub.prot", "1", "did you mean hub.port or "),
        ("agents.nobody.role", "x", "unknown setting"),
        ("agents.arya.name", "system", "moot.toml:6:1 name = "),
        ("agents.arya.role", "${NOWHERE}", "moot.toml:7:1 role = "),
        ("bridges.telegram.bots.arya", "123:plain", "contains a secret in plain text"),
    ],
)
def test_what_would_not_load_is_refused_and_nothing_is_written(
    own: Shell, moot: Moot, key: str, value: str, words: str
) -> None:
    before = file_of(own)
    told = moot("config", "set", key, value)
    assert told.code in (2, 3), told.err
    assert words in told.err
    assert "123:plain" not in told.err
    assert file_of(own) == before


def test_a_broken_value_can_be_mended(own: Shell, moot: Moot) -> None:
    (own.home / "moot.toml").write_text("[hub]\nport = 99999   # oops\n", encoding="utf-8")
    assert moot("config", "list").code == 2
    assert moot("config", "set", "hub.port", "8420").code == 0
    assert file_of(own) == "[hub]\nport = 8420   # oops\n"


def test_a_file_that_is_no_toml_is_left_alone(own: Shell, moot: Moot) -> None:
    (own.home / "moot.toml").write_text("[hub\nport = 1\n", encoding="utf-8")
    told = moot("config", "set", "hub.port", "8420")
    assert told.code == 2
    assert told.err.startswith("error[E103] moot.toml:1:")
    assert file_of(own) == "[hub\nport = 1\n"


def test_a_missing_file_is_made_for_the_owner_alone(shell: Shell, moot: Moot) -> None:
    file = shell.home / "moot.toml"
    file.unlink()
    assert moot("config", "set", "hub.user", "karl").code == 0
    assert file_of(shell) == '[hub]\nuser = "karl"\n'
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


def test_line_ends_mode_and_links_stay(own: Shell, moot: Moot) -> None:
    real = own.home / "real.toml"
    real.write_bytes(b"[hub]\r\nport = 1\r\n")
    real.chmod(0o640)
    (own.home / "moot.toml").unlink()
    (own.home / "moot.toml").symlink_to(real)
    assert moot("config", "set", "hub.user", "karl").code == 0
    assert real.read_bytes() == b'[hub]\r\nport = 1\r\nuser = "karl"\r\n'
    assert (own.home / "moot.toml").is_symlink()
    assert stat.S_IMODE(real.stat().st_mode) == 0o640


def test_what_the_environment_sets_is_said(own: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_HUB__PORT", "1")
    assert (
        moot("config", "set", "hub.port", "2").err == "the environment also sets it, and takes precedence\n"
    )


def test_the_editor_needs_a_terminal_and_the_file_is_checked_afterwards(own: Shell, moot: Moot) -> None:
    assert moot("config", "edit").code == 2
    ours, theirs = pty.openpty()
    editor = "sed -i s/8420/99999/"
    environ = own.environ({"EDITOR": editor, "VISUAL": editor})
    del environ["MOOT_HUB__PORT"]  # it would win over the file
    done = subprocess.run(
        [MOOT, "config", "edit"],
        stdin=theirs,
        capture_output=True,
        env=environ,
        check=False,
    )
    os.close(ours)
    os.close(theirs)
    assert done.returncode == 2
    assert b"moot.toml:3:1 port = 99999 is not" in done.stderr


def test_a_password_in_an_address_is_not_shown_and_not_lost(own: Shell, moot: Moot) -> None:
    address = "postgresql://moot:S3CRET@127.0.0.1:1/moot"
    (own.home / "moot.toml").write_text(f'[store]\nurl = "{address}"\n', encoding="utf-8")
    for arguments in (("get", "store.url"), ("list",), ("list", "--json")):
        assert "S3CRET" not in moot("config", *arguments).out
    shown = moot("config", "get", "store.url").out.splitlines()[0]
    told = moot("config", "set", "store.url", shown)
    assert told.code == 2
    assert "in place of a secret" in told.err
    assert address in file_of(own)
