"""`moot keys`: kept for the owner alone, never an argument, never shown."""

import json
import os
import pty
import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doors.cli.shell import MOOT, Shell, Told
from tests.support.waiting import PATIENCE

Moot = Callable[..., Told]
KEY = "sk-ant-canary-0123456789-x7Qa"
CLEAN = {"ANTHROPIC_API_KEY": "", "OPENAI_API_KEY": "", "OPENROUTER_API_KEY": ""}


def keep(shell: Shell, *words: str, key: str = KEY) -> Told:
    return shell.moot("keys", "set", *words, stdin=f"{key}\n".encode(), env=CLEAN)


def test_a_key_from_standard_input_is_kept_and_shown_by_its_ending_only(shell: Shell) -> None:
    told = keep(shell, "anthropic")
    file = shell.home / "keys.json"
    assert told.code == 0
    assert told.out == f"✓ anthropic key …x7Qa stored in {file}, mode 600\n"
    assert json.loads(file.read_text()) == {"anthropic": KEY}
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    listed = shell.moot("keys", "list", env=CLEAN)
    assert listed.out.split() == ["provider", "from", "key", "anthropic", "keys.json", "…x7Qa"]
    assert KEY not in told.out + told.err + listed.out + listed.err


def test_a_key_is_typed_without_echo(shell: Shell) -> None:
    parent, child = pty.openpty()
    process = subprocess.Popen(
        [MOOT, "keys", "set", "anthropic", "--no-test"],
        stdin=child,
        stdout=child,
        stderr=child,
        env=shell.environ(CLEAN),
        start_new_session=True,
    )
    os.close(child)
    screen = b""
    while b"hidden" not in screen:
        screen += os.read(parent, 1024)
    os.write(parent, f"{KEY}\n".encode())
    try:
        while data := os.read(parent, 1024):
            screen += data
    except OSError:
        pass  # the terminal is gone with the process
    assert process.wait(PATIENCE) == 0
    os.close(parent)
    assert KEY.encode() not in screen
    assert json.loads((shell.home / "keys.json").read_text()) == {"anthropic": KEY}


def test_a_key_as_an_argument_is_refused_and_not_kept(shell: Shell) -> None:
    told = shell.moot("keys", "set", "anthropic", KEY, env=CLEAN)
    assert told.code == 2
    assert not (shell.home / "keys.json").exists()


def test_the_same_for_programs(shell: Shell) -> None:
    keep(shell, "https://openrouter.ai/api/v1", "--json")
    environ = {**CLEAN, "OPENAI_API_KEY": "sk-env-0123456789-abcd"}
    told = shell.moot("keys", "list", "--json", env=environ)
    assert told.json == [
        {"provider": "openai", "source": "environment", "variable": "OPENAI_API_KEY", "ending": "…abcd"},
        {"provider": "openrouter.ai", "source": "keys.json", "variable": "", "ending": "…x7Qa"},
    ]


def test_the_environment_wins_and_that_is_said(shell: Shell) -> None:
    environ = {**CLEAN, "ANTHROPIC_API_KEY": "sk-env-0123456789-abcd"}
    told = shell.moot("keys", "set", "anthropic", stdin=KEY.encode(), env=environ)
    assert told.err == "ANTHROPIC_API_KEY is also set, and takes precedence\n"


def test_a_key_is_forgotten(shell: Shell) -> None:
    keep(shell, "anthropic")
    assert shell.moot("keys", "remove", "anthropic", "--json").json == {
        "provider": "anthropic",
        "removed": True,
    }
    assert shell.moot("keys", "list", env=CLEAN).out == "no keys. Set one: moot keys set anthropic\n"


def test_a_key_that_is_not_there_cannot_be_forgotten(shell: Shell) -> None:
    told = shell.moot("keys", "remove", "anthropic", env=CLEAN)
    assert told.code == 3
    assert told.err.startswith("error[E201] no anthropic key is stored\n")
    environ = {**CLEAN, "ANTHROPIC_API_KEY": KEY}
    told = shell.moot("keys", "remove", "anthropic", env=environ)
    assert told.code == 3
    assert "it comes from ANTHROPIC_API_KEY" in told.err
    assert KEY not in told.err


def test_a_bare_word_is_a_provider_only_where_an_agent_thinks_there(shell: Shell) -> None:
    told = keep(shell, "antropic")
    assert told.code == 3
    assert told.err.startswith("error[E201] unknown provider antropic\n  did you mean anthropic?")
    assert not (shell.home / "keys.json").exists()
    (shell.home / "moot.toml").write_text(
        '[[agents]]\nname = "arya"\nbrain = "openai:m@http://workhorse/v1"\n', encoding="utf-8"
    )
    assert keep(shell, "workhorse").code == 0


@pytest.mark.parametrize(
    ("provider", "key", "words"),
    [
        ("two words", KEY, "unknown provider"),
        ("anthropic", "", "no key was given"),
        ("anthropic", "two words of a secret", "the key is not a key"),
    ],
)
def test_what_is_no_key_is_refused(shell: Shell, provider: str, key: str, words: str) -> None:
    told = keep(shell, provider, key=key)
    assert told.code == 2
    assert words in told.err
    assert "secret" not in told.err
    assert not (shell.home / "keys.json").exists()


def test_a_file_that_others_can_read_is_refused(shell: Shell) -> None:
    keep(shell, "anthropic")
    file = shell.home / "keys.json"
    file.chmod(0o644)
    for words in (("list",), ("remove", "anthropic"), ("set", "openai")):
        told = shell.moot("keys", *words, stdin=b"sk-other-0123456789", env=CLEAN)
        assert told.code == 2
        assert told.err.startswith(f"error[E103] {file} can be read by other users (mode 0644)")
        assert f"fix   chmod 600 {file}" in told.err
        assert KEY not in told.err


def test_keys_work_in_a_home_that_is_not_there_yet(tmp_path: Path) -> None:
    shell = Shell(tmp_path / "new")
    assert shell.moot("keys", "list", env=CLEAN).code == 0
    assert not shell.home.exists()
    assert keep(shell, "anthropic").code == 0
    assert stat.S_IMODE(shell.home.stat().st_mode) == 0o700


def test_a_missing_key_has_an_exit_code_of_its_own(moot: Moot) -> None:
    told = moot("explain", "E101", "--json")
    assert (told.json["name"], told.json["exit"]) == ("no_key", 4)


# --- tokens ----------------------------------------------------------------------------------------------------


@pytest.mark.req("P-08")
def test_a_token_is_issued_listed_without_its_secret_and_revoked(moot: Moot) -> None:
    made = moot("tokens", "new", "arya")
    assert made.out.startswith("moot_")
    [listed] = moot("tokens", "list", "arya", "--json").json
    assert (listed["scopes"], listed["revoked_at"]) == (["read", "post"], None)
    assert made.out.strip() not in moot("tokens", "list", "arya").out
    refused = moot("tokens", "revoke", "arya", listed["id"])
    assert refused.code == 2
    assert (
        moot("tokens", "revoke", "arya", listed["id"], "--yes").out == f"✓ revoked {listed['id']} of arya\n"
    )
    assert "revoked" in moot("tokens", "list", "arya").out
    assert moot("tokens", "new", "arya", "--scopes", "everything").code == 2
