"""One agent of moot.toml that cannot be loaded: the others run, and it is said why this one does not."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.brains.code import missing_in
from tests.doors.cli.shell import Shell, Terminal, make_home
from tests.support.waiting import PATIENCE

BRAINS = {
    "code:nowhere:think": "No module named 'nowhere'",
    "code:cli_team:nobody": "module 'cli_team' has no attribute 'nobody'",
    "code:cli_torn:think": "SyntaxError: ",
}


@pytest.fixture(params=BRAINS)
def broken(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Shell, str]]:
    """A home with arya, who is fine, and fin, who cannot be loaded; and why that is."""
    row = f'[[agents]]\nname = "fin"\nbrain = "{request.param}"\n'
    shell = make_home(tmp_path / "home", {"arya": "echo"}, more=f"reactive_round = false\n{row}")
    (shell.home / "cli_torn.py").write_text("def think(:\n", encoding="utf-8")
    yield shell, f"{request.param} cannot be loaded: {BRAINS[request.param]}"
    shell.moot("agent", "stop", "--all")
    shell.moot("stop")


def test_the_others_answer_where_no_hub_runs(broken: tuple[Shell, str]) -> None:
    shell, reason = broken
    assert shell.moot("send", "arya", "hello", "--json").json["replies"][0]["text"] == "arya heard: hello"
    shell.moot("conv", "new", "room", "--with", "arya,fin")
    told = shell.moot("chat", "--conv", "room", "@arya hello")
    assert told.code == 0, told.err
    assert "arya heard: arya hello" in told.out
    assert f"! agent fin: {reason}" in told.err


def test_a_chat_begins_all_the_same_and_says_it(broken: tuple[Shell, str]) -> None:
    shell, reason = broken
    chat = Terminal(shell, "chat", "arya", env={"COLUMNS": "300"})
    try:
        chat.read_until(f"! agent fin: {reason}")
        chat.read_until("arya (forced)")
        chat.type("hello")
        chat.read_until("arya heard: hello")
        chat.press("\x04")
        chat.rest()
        assert chat.process.returncode == 0
    finally:
        chat.close()


def test_who_writes_to_it_reads_why_nobody_answers(broken: tuple[Shell, str]) -> None:
    shell, reason = broken
    for words in (("send", "fin", "hello"), ("ask", "fin", "--", "hello"), ("chat", "fin", "-m", "hello")):
        told = shell.moot(*words)
        assert told.code == 1
        assert told.err.startswith(f"no answer: fin is away: {reason}")
        assert told.err.count("cannot be loaded") == 1
        assert "  fix   set project of " in told.err
        assert "the message is kept as " in told.err
    told = shell.moot("send", "fin", "hello", "--no-wait", "--json")
    assert (told.code, told.json["outcome"]) == (1, "failed")
    [cause] = told.json["causes"]
    assert cause["agents"] == ["fin"]
    assert cause["reason"].startswith(f"fin is away: {reason}")


def test_a_coding_cli_that_no_process_can_run_is_not_said_to_be_started_later(tmp_path: Path) -> None:
    row = '[[agents]]\nname = "fin"\nbrain = "command:claude"\n'  # its project is the home, which is refused
    shell = make_home(tmp_path / "home", {"arya": "echo"}, more=row)
    told = shell.moot("send", "fin", "hello")
    assert told.code == 1
    assert "no answer: fin is away: the project of fin, " in told.err
    assert "agent start" not in told.err
    assert shell.moot("send", "fin", "hello", "--no-wait", "--json").json["outcome"] == "failed"


def test_a_hub_runs_the_others_and_all_say_it(broken: tuple[Shell, str]) -> None:
    shell, reason = broken
    up = shell.moot("up", "--detach")
    assert up.code == 0, up.err
    assert f"note   agent fin: {reason}" in up.err
    assert "cannot be loaded" in (shell.home / "logs" / "hub.log").read_text()
    assert shell.moot("send", "arya", "hello").code == 0
    told = shell.moot("chat", "fin", "-m", "hello", "--json")
    assert (told.code, told.json["outcome"]) == (1, "failed")
    assert told.json["causes"][0]["reason"].startswith(f"fin is away: {reason}")
    status = shell.moot("status", "--json").json
    assert {agent["name"]: agent["state"] for agent in status["agents"]}["fin"] == "away"
    [needed] = [row["error"] for row in status["needs_you"] if row["what"] == "broken"]
    assert needed.startswith(f"agent fin: {reason}")
    [bad] = [check for check in shell.moot("doctor", "--json").json["checks"] if check["state"] == "bad"]
    assert bad["text"].startswith(f"agent fin: {reason}")


def test_with_json_the_hub_says_it_too(broken: tuple[Shell, str]) -> None:
    shell, reason = broken
    up = shell.start("up", "--json")
    assert up.stdout is not None
    assert f'"pid": {up.pid}' in up.stdout.readline()
    up.terminate()
    _, err = up.communicate(timeout=PATIENCE)
    assert up.returncode == 0
    assert f"agent fin: {reason}" in err.replace("\\", "")


def test_started_alone_it_fails_and_among_all_it_stops_nobody(broken: tuple[Shell, str]) -> None:
    shell, reason = broken
    alone = shell.moot("agent", "start", "fin")
    assert alone.code != 0
    assert "fin did not start" in alone.err
    assert reason in alone.err
    everyone = shell.moot("agent", "start", "--all")
    assert everyone.code == 1
    assert "arya is running (pid " in everyone.out
    assert "fin did not start" in everyone.err


@pytest.mark.parametrize(
    "source",
    [
        b"async def think(turn): ...",
        b"think = make()",
        b"if x:\n    from there import one as think",
        b"from there import *",
        b"def __getattr__(name): ...",
        b"globals()['think'] = 1",
        b"try:\n    a, think = 1, 2\nexcept Exception: pass",
    ],
)
def test_what_may_be_in_a_module_is_not_called_missing(source: bytes) -> None:
    assert missing_in(source, "team", "think") == ""
    assert missing_in(b"async def other(turn): think()", "team", "think") == (
        "module 'team' has no attribute 'think'"
    )
