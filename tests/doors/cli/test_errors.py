"""Every refusal says what happened, what comes near and what mends it; nothing is stored."""

from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from tests.doors.cli.shell import AGENTS, Shell, Told, make_home

Moot = Callable[..., Told]


def messages(shell: Shell) -> int:
    told = shell.moot("tail", "--json")
    assert told.code == 0
    return len(told.json)


def test_an_unknown_agent_comes_with_suggestions(moot: Moot) -> None:
    told = moot("send", "gendri", "hello")
    assert told.code == 3
    assert told.err == (
        'error[E201] no agent is called "gendri"\n'
        "  did you mean gendry?          agents here: arya, broken, caller, gendry, quiet, slow\n"
        '  fix   moot send gendry hello      or create it: moot agents new gendri --role "…"\n'
        "  more  moot explain E201\n"
    )


def test_the_same_error_for_programs(moot: Moot) -> None:
    told = moot("send", "gendri", "hello", "--json")
    assert (told.code, told.out) == (3, "")
    assert told.error["code"] == "E201"
    assert told.error["name"] == "agent_not_found"
    assert told.error["suggestions"] == ["gendry"]
    assert told.error["fix"][0] == "moot send gendry hello --json"
    assert told.error["retryable"] is False
    assert told.error["exit"] == 3


def test_chat_never_makes_a_conversation(moot: Moot) -> None:
    told = moot("chat", "--conv", "nowhere", "hello")
    assert told.code == 3
    assert told.err.startswith('error[E201] no conversation is called "nowhere"')
    assert "moot conv new nowhere" in told.err
    assert moot("conv", "list", "--json").json == []


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("system", "reserved"),
        ("owner", "reserved"),
        ("hurnan", "human"),
        ("Arya", "lower-case"),
        ("n0ne", "none"),
    ],
)
def test_a_reserved_or_confusable_name_is_refused(tmp_path: Path, name: str, words: str) -> None:
    shell = make_home(tmp_path / "home", {name: "echo"})
    told = shell.moot("agents", "list")
    assert told.code == 2
    assert told.err.startswith(("error[E103] moot.toml:", "error[E202]")), told.err
    assert words in told.err
    assert not (shell.home / "moot.db").exists()


def test_a_conversation_name_that_cannot_be_typed_is_refused(moot: Moot) -> None:
    told = moot("conv", "new", "a:b")
    assert told.code == 2
    assert told.err.startswith('error[E202] "a:b" cannot be used as a conversation name\n  did you mean a-b?')


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (b"caf\xe9 au lait", "it is not valid UTF-8"),
        (b"nul \x00 inside", "it contains U+0000"),
        (b"lone \xed\xa0\x80 surrogate", "it is not valid UTF-8"),
        (b"x" * 300 * 1024, "it is too long"),
        (b"  \n ", "it is empty"),
    ],
)
def test_a_text_that_cannot_be_stored_is_refused(shell: Shell, given: bytes, words: str) -> None:
    told = shell.moot("send", "arya", "-", stdin=given)
    assert told.code == 2
    assert told.err.startswith(f"error[E203] the text cannot be stored: {words}\n"), told.err
    assert told.err.endswith("  more  moot explain E203\n")
    assert messages(shell) == 0
    assert shell.moot("send", "arya", "-", stdin="caf\u00e9".encode()).code == 0
    assert messages(shell) == 2


@pytest.mark.parametrize("given", [b"lone \xed\xa0\x80", b"caf\xe9"])
def test_bytes_that_are_no_text_are_refused_as_a_word_too(shell: Shell, given: bytes) -> None:
    told = shell.moot("send", "arya", given)
    assert told.code == 2
    assert told.err.startswith("error[E203] the text cannot be stored: it is not valid Unicode\n")
    assert messages(shell) == 0


def test_a_broken_file_is_told_with_its_place(shell: Shell) -> None:
    (shell.home / "moot.toml").write_text('[groups]\nreply_strategy = "loud"\n', encoding="utf-8")
    told = shell.moot("agents", "list")
    assert told.code == 2
    assert told.err.startswith("error[E103] moot.toml:2:")
    assert "hybrid, mention_only, round_robin" in told.err
    assert "Traceback" not in told.err
    assert not (shell.home / "moot.db").exists()
    told = shell.moot("agents", "list", "--json")
    assert told.error["code"] == "E103"
    assert told.error["exit"] == 2


def test_a_damaged_database_is_refused_and_left_alone(shell: Shell) -> None:
    assert shell.moot("send", "arya", "hello").code == 0
    database = shell.home / "moot.db"
    database.write_bytes(b"not a database at all" * 400)
    before = database.read_bytes()
    told = shell.moot("send", "arya", "again")
    assert told.code == 1
    assert told.err.startswith("error[E602] ")
    assert database.read_bytes() == before
    checked = shell.moot("doctor")
    assert checked.code == 1
    assert checked.out.splitlines()[0].startswith("✗ database: ")
    assert database.read_bytes() == before


def test_a_newer_database_is_refused_and_left_alone(shell: Shell) -> None:
    assert shell.moot("send", "arya", "hello").code == 0
    database = shell.home / "moot.db"
    connection = apsw.Connection(str(database))
    connection.execute(
        "INSERT INTO schema_version SELECT 999, 999, '9.9.9', applied_at FROM schema_version LIMIT 1"
    )
    connection.pragma("journal_mode", "delete")
    connection.close()
    before = database.read_bytes()
    told = shell.moot("send", "arya", "again")
    assert told.code == 1
    assert told.err.startswith("error[E601] ")
    assert "was written by moot 9.9.9" in told.err
    assert database.read_bytes() == before


def test_a_bug_is_told_in_a_sentence(shell: Shell, moot: Moot, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(*_: object) -> None:
        raise ZeroDivisionError("a bug")

    monkeypatch.setattr("moot.cli.read.explain.show", fails)
    told = moot("explain", "E201")
    assert told.code == 1
    assert told.err.startswith("error[E000] internal error in Moot: ZeroDivisionError: a bug\n")
    assert "Traceback" not in told.err
    assert "Traceback" in moot("--debug", "explain", "E201").err


def test_a_brain_this_version_cannot_run_is_not_run(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home", more='[[agents]]\nname = "opus"\nbrain = "command:claude"\n')
    told = shell.moot("send", "opus", "hello", "--json")
    assert (told.code, told.json["outcome"]) == (1, "failed")
    [cause] = told.json["causes"]
    assert cause["rule"] == "away"
    assert cause["fix"]
    assert len(AGENTS) + 1 == len(shell.moot("agents", "list", "--json").json)
