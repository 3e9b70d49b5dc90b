"""`moot notes`: made, written in an editor or piped in, compared, brought back, shared and deleted (SPEC S-15)."""

import stat
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.doors.cli.shell import MOOT, Shell, Terminal, Told
from tests.doors.cli.test_completion import bash
from tests.doors.http.up import Up

Moot = Callable[..., Told]
pytestmark = pytest.mark.req("S-15")


@pytest.fixture
def note(shell: Shell) -> Shell:
    assert shell.moot("notes", "new", "deploy", "canary: red").out == "✓ made deploy v1\n"
    return shell


def test_a_note_is_made_listed_and_shown(moot: Moot, shell: Shell) -> None:
    told = moot("notes", "list")
    assert (told.code, told.out) == (0, "")
    assert "moot notes new" in told.err
    assert moot("notes", "list", "--json").json == []
    made = moot("notes", "new", "Deploy-Status", "canary:", "red", "--json").json
    assert (made["name"], made["text"], made["version"]) == ("deploy-status", "canary: red", 1)
    assert moot("notes", "show", "deploy-status").out == "canary: red\n"
    assert moot("notes", "show", "deploy-status", "--json").json == made
    assert "deploy-status  v1       user  just now" in moot("notes", "list").out
    assert moot("note", "ls").code == 2
    assert moot("notes", "show", "depoly-status").code == 3
    assert "did you mean deploy-status?" in moot("notes", "show", "depoly-status").err


def test_a_name_that_cannot_be_is_refused_with_one_that_can(moot: Moot) -> None:
    told = moot("notes", "new", "a/b")
    assert told.code == 2
    assert "did you mean a-b?" in told.err
    assert "letters, digits" in told.err


def test_what_is_piped_in_is_the_text(note: Shell) -> None:
    assert note.moot("notes", "new", "report", stdin=b"one\ntwo\n").code == 0
    assert note.moot("notes", "show", "report").out == "one\ntwo\n"
    assert note.moot("notes", "edit", "report", stdin="drei ✓\n".encode()).out == "✓ wrote report v2\n"
    assert note.moot("notes", "append", "report", stdin=b"four").out == "✓ wrote report v3\n"
    assert note.moot("notes", "append", "report", "five").code == 0
    assert note.moot("notes", "show", "report").out == "drei ✓\nfour\nfive\n"
    assert note.moot("notes", "append", "report").code == 2
    assert note.moot("notes", "show", "report", "--version", "1").out == "one\ntwo\n"


def on_a_terminal(shell: Shell, *words: str, env: dict[str, str] | None = None) -> str:
    """All that a person sees of a command."""
    terminal = Terminal(shell, *words, env=env)
    try:
        return terminal.rest().replace("\r\n", "\n")
    finally:
        terminal.close()


def editor(folder: Path, script: str) -> dict[str, str]:
    """An editor that does to the file what a script says."""
    program = folder / "editor.sh"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o700)
    return {"EDITOR": str(program), "VISUAL": str(program)}


def test_edit_opens_the_editor_of_the_person(note: Shell, tmp_path: Path) -> None:
    env = editor(tmp_path, 'echo "blocked by: none" >> "$1"')
    assert "wrote deploy v2" in on_a_terminal(note, "notes", "edit", "deploy", env=env)
    assert note.moot("notes", "show", "deploy").out == "canary: red\nblocked by: none\n"
    untouched = editor(tmp_path, "true")
    assert "deploy is unchanged" in on_a_terminal(note, "notes", "edit", "deploy", env=untouched)
    told = note.moot("notes", "edit", "deploy")
    assert (told.code, "an editor needs a terminal" in told.err) == (2, True)


def test_who_was_overtaken_in_the_editor_finds_the_text_in_a_file(note: Shell, tmp_path: Path) -> None:
    faster = f'echo "somebody else" | {MOOT} notes edit deploy > /dev/null; echo mine > "$1"'
    seen = on_a_terminal(note, "notes", "edit", "deploy", env=editor(tmp_path, faster))
    assert "user wrote version 2 of deploy; you have version 1" in seen
    kept = note.home / "drafts" / "deploy.md"
    assert kept.read_text() == "mine\n"
    assert stat.S_IMODE(kept.stat().st_mode) == 0o600
    assert note.moot("notes", "show", "deploy").out == "somebody else\n"


def test_a_stale_version_is_refused_with_both_texts_and_the_own_one_is_kept(note: Shell) -> None:
    note.moot("notes", "edit", "deploy", "canary: green")
    stale = note.moot("notes", "edit", "deploy", "mine", "--version", "1", "--json")
    assert stale.code == 1
    told = stale.error
    assert (told["current_text"], told["your_text"], told["current_version"]) == ("canary: green", "mine", 2)
    assert Path(told["kept_in"]).read_text() == "mine"
    again = note.moot("notes", "edit", "deploy", "mine too", "--version", "1")
    assert f"your text is kept in {note.home / 'drafts' / 'deploy-2.md'}" in again.err
    assert "moot notes diff deploy" in again.err


def test_history_diff_and_revert(note: Shell) -> None:
    note.moot("notes", "edit", "deploy", "canary: green")
    note.moot("notes", "append", "deploy", "blocked by: none")
    rows = note.moot("notes", "history", "deploy").out.splitlines()
    assert [row.split() for row in rows[1:]] == [
        ["v3", "user", "just", "now", "+1", "-0"],
        ["v2", "user", "just", "now", "+1", "-1"],
        ["v1", "user", "just", "now", "+1", "-0"],
    ]
    assert [v["version"] for v in note.moot("notes", "history", "deploy", "--limit", "1", "--json").json] == [
        3
    ]
    assert "+blocked by: none" in note.moot("notes", "diff", "deploy").out
    assert "-canary: red\n+canary: green\n" in note.moot("notes", "diff", "deploy", "1", "2").out
    assert "-canary: red" in note.moot("notes", "diff", "deploy", "1").out
    assert note.moot("notes", "diff", "deploy", "2", "2").err == "nothing changed\n"
    assert note.moot("notes", "revert", "deploy", "1").out == "✓ wrote deploy v4\n"
    assert note.moot("notes", "show", "deploy").out == "canary: red\n"
    assert note.moot("notes", "revert", "deploy", "9").code == 3


def test_sharing_says_who_may_what(note: Shell) -> None:
    assert note.moot("notes", "share", "deploy").out == "deploy: no agent may read it\n"
    assert "arya   reads and writes  user" in note.moot("notes", "share", "deploy", "arya", "--write").out
    note.moot("notes", "share", "deploy", "@gendry", "--read")
    granted = note.moot("notes", "share", "deploy", "--json").json
    assert {row["agent"]: row["access"] for row in granted} == {"arya": "read_write", "gendry": "read"}
    assert [
        row["agent"] for row in note.moot("notes", "share", "deploy", "arya", "--none", "--json").json
    ] == ["gendry"]
    for words in (("arya",), ("--read",)):
        told = note.moot("notes", "share", "deploy", *words)
        assert (told.code, "add --read, --write or --none" in told.err) == (2, True)
    assert note.moot("notes", "share", "deploy", "nobody", "--read").code == 3


def test_deleting_asks_first(note: Shell) -> None:
    told = note.moot("notes", "rm", "deploy")
    assert (told.code, "--yes" in told.err) == (2, True)
    assert note.moot("notes", "rm", "deploy", "--yes").out == "✓ deleted deploy v1\n"
    assert note.moot("notes", "show", "deploy").code == 3


def test_a_hub_that_runs_does_the_same(note: Shell) -> None:
    hub = Up(note.home)
    hub.start()
    try:
        assert note.moot("notes", "append", "deploy", "canary: green").out == "✓ wrote deploy v2\n"
        assert note.moot("notes", "share", "deploy", "arya", "--read").code == 0
        assert "+canary: green" in note.moot("notes", "diff", "deploy").out
        assert note.moot("notes", "revert", "deploy", "1").out == "✓ wrote deploy v3\n"
    finally:
        hub.end(15)


def test_notes_are_completed_by_their_names(note: Shell) -> None:
    note.moot("notes", "new", "on-call")
    assert set(bash("moot notes show ", note.home)) == {"deploy", "on-call"}
    assert bash("moot notes share de", note.home) == ["deploy"]
    assert "arya" in bash("moot notes share deploy ", note.home)
    assert bash("moot notes new ", note.home) == []


def test_the_text_of_others_moves_no_cursor(note: Shell) -> None:
    note.moot("notes", "edit", "deploy", stdin=b"\x1b[2Jcleared")
    assert r"\x1b[2Jcleared" in on_a_terminal(note, "notes", "show", "deploy")
    assert note.moot("notes", "show", "deploy").out == "\x1b[2Jcleared\n", "a program gets it as it is"
