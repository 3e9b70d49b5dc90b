"""Typing into a chat at a real terminal: pastes, typing while others speak, Ctrl+C, and how one leaves."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.doors.cli.shell import Shell, Terminal, make_home
from tests.support.waiting import PATIENCE

LINES = [f"line {number} of the text" for number in range(1, 31)]
TEXT = "\n".join(LINES)
CTRL_C, CTRL_D, CTRL_U, UP = "\x03", "\x04", "\x15", "\x1b[A"
FIRST, WHOLE = "│ first words", "│ first words and the rest of it"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return make_home(tmp_path / "home", {"arya": "echo", "talker": "talker"})


@contextmanager
def chatting(shell: Shell, *words: str, env: dict[str, str] | None = None) -> Iterator[Terminal]:
    terminal = Terminal(shell, "chat", *words, env=env)
    try:
        terminal.read_until("you ▸ ")
        yield terminal
    finally:
        terminal.close()


def said(shell: Shell) -> list[str]:
    return [m["text"] for m in shell.moot("tail", "--json").json if m["kind"] == "human"]


def let_go(shell: Shell) -> None:
    (shell.home / "go").touch()


# --- pastes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "keys",
    ["\x1b[200~" + TEXT.replace("\n", "\r") + "\r\x1b[201~\r", f"{TEXT}\n"],
    ids=["marked", "not marked"],
)
def test_a_pasted_text_is_one_message(shell: Shell, keys: str) -> None:
    with chatting(shell, "arya") as terminal:
        assert "\x1b[?2004h" in terminal.seen
        terminal.press(keys)
        terminal.read_until("arya heard: line 1")
        terminal.read_until("will answer: ")
        terminal.type("/quit")
        assert terminal.process.wait(timeout=PATIENCE) == 0
        terminal.rest()
        assert terminal.seen.rstrip().endswith("\x1b[?2004l")
    assert said(shell) == [TEXT]


def test_a_paste_waits_for_enter_and_can_be_written_on(shell: Shell) -> None:
    with chatting(shell, "arya") as terminal:
        terminal.press("look: \x1b[200~one\ntwo\x1b[31m\x1b[201~")
        terminal.read_until_drawn("you ▸ look: one↵two[31m")
        terminal.press(" and three\x1b\rfour\n")
        terminal.read_until("arya heard: look")
    assert said(shell) == ["look: one\ntwo[31m and three\nfour"]


# --- while others speak --------------------------------------------------------------------------------------


def test_typing_while_an_agent_speaks_tears_neither_apart(shell: Shell) -> None:
    with chatting(shell, "talker") as terminal:
        terminal.type("begin")
        terminal.read_until_drawn(FIRST, "you ▸")
        terminal.press("half a thought")
        terminal.read_until_drawn(FIRST, "you ▸ half a thought")
        let_go(shell)
        terminal.read_until_drawn(WHOLE, "will answer: talker (forced)", "you ▸ half a thought")
        assert terminal.drawn().count(WHOLE) == 1
        assert FIRST not in terminal.drawn()
        terminal.press(" more\n")
        terminal.read_until("will answer: ")
    assert said(shell) == ["begin", "half a thought more"]


def test_what_is_said_meanwhile_is_posted_at_once_and_answered_in_its_turn(shell: Shell) -> None:
    with chatting(shell, "talker") as terminal:
        terminal.type("begin")
        terminal.read_until_drawn(FIRST, "you ▸")
        terminal.type("and this")
        terminal.read_until_drawn("you ▸ and this", FIRST, "you ▸")
        assert said(shell) == ["begin", "and this"]
        let_go(shell)
        terminal.read_until_drawn(WHOLE, "will answer: talker (forced)", "you ▸")
        assert terminal.drawn().count(WHOLE) == 2


def test_stop_stops_in_the_middle_and_what_was_said_is_kept(shell: Shell) -> None:
    with chatting(shell, "talker") as terminal:
        terminal.type("begin")
        terminal.read_until_drawn(FIRST, "you ▸")
        terminal.type("/stop")
        terminal.read_until("stopped talker")
        terminal.read_until("will answer: talker (forced)")
        terminal.type("/quit")
        assert terminal.process.wait(timeout=PATIENCE) == 0
    [turn] = shell.moot("turns", "--json").json
    assert turn["state"] == "cancelled"
    texts = [m["text"].strip() for m in shell.moot("tail", "--json").json]
    assert texts == ["begin", "first words"]


def test_an_answer_that_was_stopped_is_marked_and_why_says_it_of_both_messages(shell: Shell) -> None:
    with chatting(shell, "talker") as terminal:
        terminal.type("begin")
        terminal.read_until_drawn(FIRST, "you ▸")
        terminal.type("/stop")
        terminal.read_until("stopped talker")
        terminal.read_until("will answer: talker (forced)")
    shown = shell.moot("conv", "show", "direct-talker+user").out
    assert re.search(r"first words\s* … \(stopped here\)\n", shown)
    [asked] = shell.moot("why", "direct-talker+user:1", "--json").json["agents"]
    assert (asked["duty"], asked["state"]) == ("must", "cancelled")
    assert asked["reason"].endswith("; it was stopped while speaking")
    [own] = shell.moot("why", "direct-talker+user:2", "--json").json["agents"]
    assert (own["duty"], own["rule"], own["reason"]) == ("observes", "self", "talker wrote it")


def test_a_message_from_elsewhere_stands_above_the_draft(shell: Shell) -> None:
    with chatting(shell, "arya") as terminal:
        terminal.press("half a thought")
        terminal.read_until_drawn("you ▸ half a thought")
        shell.moot("chat", "arya", "-m", "hello from elsewhere")
        terminal.read_until("arya heard: hello from elsewhere")
        terminal.read_until_drawn("│ arya heard: hello from elsewhere", "you ▸ half a thought")


# --- Ctrl+C --------------------------------------------------------------------------------------------------


def test_ctrl_c_never_takes_a_draft_away(shell: Shell) -> None:
    with chatting(shell, "arya") as terminal:
        terminal.press("a long draft" + CTRL_C)
        terminal.read_until("your draft is kept")
        terminal.read_until_drawn("you ▸ a long draft")
        terminal.press("!" + CTRL_C + CTRL_C)
        seen = terminal.rest()
        assert terminal.process.returncode == 130
    assert "not sent:\r\na long draft!" in seen
    assert said(shell) == []


def test_ctrl_c_gets_out_of_a_paste_that_does_not_end_and_gives_it_back_also_when_quiet(shell: Shell) -> None:
    with chatting(shell, "arya", "--quiet") as terminal:
        terminal.press("\x1b[200~half a paste")
        shell.moot("send", "--conv", "direct-arya+user", "from elsewhere", "--no-wait")
        terminal.read_until("from elsewhere")  # by then the paste is read, and Ctrl+C comes alone
        terminal.press(CTRL_C)
        terminal.read_until("half a paste")
        terminal.press(CTRL_C)
        assert "not sent:\r\nhalf a paste" in terminal.rest()
    assert said(shell) == ["from elsewhere"]


def test_ctrl_c_leaves_where_nothing_is_written_and_nobody_speaks(shell: Shell) -> None:
    with chatting(shell, "arya") as terminal:
        terminal.press(CTRL_C)
        assert "left the chat. Agents still at work continue" in terminal.rest()
        assert terminal.process.returncode == 130


def test_ctrl_c_while_somebody_speaks_asks_for_a_second_one(shell: Shell) -> None:
    with chatting(shell, "talker") as terminal:
        terminal.type("begin")
        terminal.read_until_drawn(FIRST, "you ▸")
        terminal.press(CTRL_C)
        terminal.read_until("/stop stops them, Ctrl+C again leaves")
        terminal.press(CTRL_C)
        terminal.rest()
        assert terminal.process.returncode == 130


# --- leaving -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("keys", [" Exit \n", CTRL_D])
def test_one_leaves_by_what_people_type(shell: Shell, keys: str) -> None:
    with chatting(shell, "arya") as terminal:
        terminal.press(keys)
        terminal.rest()
        assert terminal.process.returncode == 0
    assert said(shell) == []


def test_the_words_that_leave_do_so_from_a_pipe_too(shell: Shell) -> None:
    assert shell.moot("chat", "arya", stdin=b"one\nquit\ntwo\n").code == 0
    assert said(shell) == ["one"]


def test_a_lone_slash_lists_the_commands_and_the_terminal_is_left_as_it_was(shell: Shell) -> None:
    terminal = Terminal(shell, "chat", "arya")
    try:
        before = terminal.modes
        terminal.read_until("you ▸ ")
        assert terminal.modes != before
        terminal.type("/")
        terminal.read_until("/why [N]")
        terminal.type("/quit")
        terminal.process.wait(timeout=PATIENCE)
        assert terminal.modes == before
    finally:
        terminal.close()
    assert said(shell) == []


# --- lines ---------------------------------------------------------------------------------------------------


def test_a_line_can_be_mended_and_called_back(shell: Shell) -> None:
    with chatting(shell, "arya") as terminal:
        terminal.press("one thre\x1b[D\x1b[D\x1b[D\x1b[D\x7f two \x05e\n")
        terminal.read_until("arya heard: one two three")
        terminal.press("gone" + CTRL_U + "kept" + UP + "!\n")
        terminal.read_until("arya heard: one two three!")
        terminal.press(UP + "\x1b[B\n")
        terminal.type("/quit")
        terminal.rest()
    assert said(shell) == ["one two three", "one two three!"]


def test_a_long_draft_scrolls_inside_its_row(shell: Shell) -> None:
    with chatting(shell, "arya") as terminal:
        terminal.press("x" * 100 + "日本語")
        terminal.read_until_drawn("you ▸ …" + "x" * 65 + "日本語")
        terminal.press("\x01")
        terminal.read_until_drawn("you ▸ " + "x" * 71 + "…")


def test_a_draft_is_drawn_anew_when_the_terminal_becomes_narrower(shell: Shell) -> None:
    chat = Terminal(shell, "chat", "arya")
    try:
        chat.read_until("you ▸ ")
        chat.press("begin" + "." * 40 + "end")
        chat.read_until("begin" + "." * 40 + "end")
        chat.resize(30)
        chat.read_until("you ▸ …" + "." * 18 + "end")
    finally:
        chat.close()


def test_where_nothing_may_be_moved_it_works_without_a_single_sequence(shell: Shell) -> None:
    with chatting(shell, "talker", env={"TERM": "dumb"}) as terminal:
        terminal.press("begim\x7fn\n")
        terminal.read_until("status: talker thinking")
        terminal.press("half a thought")
        terminal.read_until("half a thought")
        let_go(shell)
        terminal.read_until("first words and the rest of it")
        terminal.read_until("you ▸ half a thought")
        terminal.press(CTRL_C)
        terminal.read_until("your draft is kept")
        terminal.press(f"{CTRL_U}{TEXT}\n")
        terminal.read_until("will answer: ")
        terminal.type("/quit")
        assert "\x1b" not in terminal.rest()
    assert said(shell) == ["begin", TEXT]


def test_what_was_shown_is_read_also_when_one_leaves_by_ctrl_c(shell: Shell) -> None:
    with chatting(shell, "arya") as terminal:
        terminal.type("hello")
        terminal.read_until("arya heard: hello")
        terminal.read_until("will answer: ")
        terminal.press(CTRL_C)
        terminal.process.wait(timeout=PATIENCE)
    assert shell.moot("inbox", "--unread", "--json").json == []
