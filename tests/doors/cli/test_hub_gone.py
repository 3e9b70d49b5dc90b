"""A chat whose hub goes away: what is typed then is posted through another, or given back, and never lost."""

import json
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path

import pytest

from tests.doors.cli.shell import Forked, Shell, Terminal, make_home
from tests.support.waiting import PATIENCE


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return make_home(tmp_path / "home", {"arya": "echo"})


@contextmanager
def running(shell: Shell) -> Iterator[Forked]:
    process = shell.start("up", "--json")
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["pid"] == process.pid
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate()


@contextmanager
def chatting(shell: Shell, *words: str) -> Iterator[Terminal]:
    terminal = Terminal(shell, "chat", "arya", *words)
    try:
        terminal.read_until("you ▸ ")
        yield terminal
    finally:
        terminal.close()


def said(shell: Shell) -> list[str]:
    return [m["text"] for m in shell.moot("tail", "--json").json if m["kind"] == "human"]


@pytest.mark.parametrize("again", [True, False], ids=["another hub runs", "no hub runs"])
def test_the_next_line_is_posted_all_the_same(shell: Shell, again: bool) -> None:
    with running(shell) as first, chatting(shell) as terminal:
        first.kill()
        first.wait(timeout=PATIENCE)
        with running(shell) if again else nullcontext():
            terminal.type("are you there")
            terminal.read_until("arya heard: are you there")
            terminal.read_until("will answer: ")
            terminal.type("/quit")
            assert "E402" not in terminal.rest()
        assert terminal.process.returncode == 0
    assert said(shell) == ["are you there"]


def test_where_no_way_in_is_left_the_line_is_given_back_and_the_error_told_once(shell: Shell) -> None:
    with running(shell) as hub, chatting(shell, "--quiet") as terminal:
        hub.kill()
        hub.wait(timeout=PATIENCE)
        for file in shell.home.glob("moot.db*"):
            file.unlink()
        (shell.home / "moot.db").mkdir()
        terminal.type("are you there")
        told = terminal.rest()
    assert "not sent:\r\nare you there" in told
    assert told.count("error[") == 1
    assert terminal.process.returncode not in (0, None)


def test_a_stream_that_the_hub_took_with_it_is_ended_on_the_screen_and_nobody_is_waited_for(
    tmp_path: Path,
) -> None:
    shell = make_home(tmp_path / "home", {"arya": "talker"})
    with running(shell) as hub, chatting(shell) as terminal:
        terminal.type("tell me")
        terminal.read_until("first words")
        hub.kill()
        hub.wait(timeout=PATIENCE)
        terminal.read_until("the hub stopped; all messages are kept, and your next line reconnects")
        terminal.read_until_drawn(
            "│ first words  …",
            "the hub stopped; all messages are kept, and your next line reconnects",
            "you ▸",
        )
        (shell.home / "go").touch()
        terminal.type("and now?")
        terminal.read_until("and the rest of it")
        terminal.type("/quit")
        terminal.rest()
    assert said(shell) == ["tell me", "and now?"]


def test_who_only_listens_hears_at_once_that_the_hub_is_gone(shell: Shell) -> None:
    with running(shell) as hub, chatting(shell) as terminal:
        hub.kill()
        terminal.read_until("the hub stopped; all messages are kept")
        terminal.type("/quit")
        assert terminal.rest().count("the hub stopped") == 1
