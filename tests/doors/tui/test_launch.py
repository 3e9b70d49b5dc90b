"""Which chat one gets: the full screen where it can be had, plain lines elsewhere, and nothing heavy before."""

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from moot.cli.tui.launch import is_light
from tests.doors.cli.shell import Shell, Terminal, make_home
from tests.support.waiting import PATIENCE

LINES = "\n".join(f"line {number}" for number in range(1, 201))
FEW = "\n".join(LINES.splitlines()[:8])
WHOLE_SCREEN = "\x1b[?1049h"


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return make_home(tmp_path / "home", {"arya": "echo", "talker": "talker"})


@contextmanager
def opened(
    shell: Shell,
    *words: str,
    size: tuple[int, int] = (30, 100),
    env: dict[str, str] | None = None,
    fresh: bool = False,
) -> Iterator[Terminal]:
    terminal = Terminal(shell, *words, env=env, size=size, fresh=fresh)
    try:
        yield terminal
    finally:
        terminal.close()


def said(shell: Shell) -> list[str]:
    return [m["text"] for m in shell.moot("tail", "--json").json if m["kind"] == "human"]


def doors(shell: Shell) -> list[str]:
    """By which door each message of the person came in."""
    return [m["metadata"]["door"] for m in shell.moot("tail", "--json").json if m["kind"] == "human"]


# --- the full screen ---------------------------------------------------------------------------------------------


def test_chat_has_the_whole_screen_and_gives_the_terminal_back(shell: Shell) -> None:
    with opened(shell, "chat", "arya") as terminal:
        before = terminal.modes
        terminal.read_until(WHOLE_SCREEN)
        terminal.read_until("will answer:")
        terminal.press("\x1b[200~" + FEW + "\x1b[201~")
        terminal.press("\r")
        terminal.read_until("arya heard: line 1")
        terminal.press("half a thought")
        terminal.read_until("thought")
        terminal.press("\x03")
        terminal.read_until("your draft is kept")
        terminal.press("\x03\x03")  # two at once: a second one that comes late counts as a first
        seen = terminal.rest()
        assert terminal.process.wait(timeout=PATIENCE) == 130
        assert "\x1b[?1049l" in seen
        assert "not sent:\r\nhalf a thought" in seen
        assert terminal.modes == before
    assert said(shell) == [FEW]
    assert doors(shell) == ["tui"], "the chat is a door of its own"
    assert shell.moot("chat", "arya", "-m", "from the shell").code == 0
    assert doors(shell) == ["tui", "cli"]


@pytest.mark.parametrize("words", [("open", "--tui"), ("open", "direct-arya+user", "--tui")])
def test_open_tui_opens_the_newest_conversation_or_the_one_named(
    shell: Shell, words: tuple[str, ...]
) -> None:
    missing = shell.moot("open", "--tui")
    assert missing.code == 3
    assert "there is no conversation to open yet" in missing.err
    shell.moot("chat", "arya", "-m", "hello")
    with opened(shell, *words) as terminal:
        terminal.read_until(WHOLE_SCREEN)
        terminal.read_until("arya heard: hello")
        terminal.press("\x04")
        terminal.rest()
        assert terminal.process.wait(timeout=PATIENCE) == 0


def test_the_demo_has_the_whole_screen(shell: Shell) -> None:
    with opened(shell, "demo", "--fast", size=(50, 100)) as terminal:
        terminal.read_until(WHOLE_SCREEN)
        terminal.read_until("No model is called")
        terminal.read_until("You saw")
        terminal.read_until("curl")
        terminal.press("\x04")
        terminal.rest()
        assert terminal.process.wait(timeout=PATIENCE) == 0


# --- plain lines -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "env"),
    [(("--plain",), {}), ((), {"MOOT_SCREEN_READER": "1", "NO_COLOR": "1"}), ((), {"TERM": "dumb"})],
    ids=["--plain", "screen reader", "dumb"],
)
def test_plain_lines_are_only_ever_appended(
    shell: Shell, words: tuple[str, ...], env: dict[str, str]
) -> None:
    with opened(shell, "chat", "talker", *words, env=env) as terminal:
        terminal.read_until("you ▸ ")
        terminal.type("begin")
        terminal.read_until("status: talker ")
        terminal.type("/stop")
        terminal.read_until("stopped talker")
        terminal.read_until("talker, ")
        terminal.read_until("first words")
        terminal.type("exit")
        terminal.rest()
        assert terminal.process.wait(timeout=PATIENCE) == 0
        assert "\x1b" not in terminal.seen
        assert not re.search(r"\r(?!\n)", terminal.seen)
        assert terminal.seen.count("first words") == 1
    assert said(shell) == ["begin"]


def test_a_paste_is_one_message_in_plain_lines_too(shell: Shell) -> None:
    with opened(shell, "chat", "arya", "--plain") as terminal:
        terminal.read_until("you ▸ ")
        terminal.press(f"{LINES}\n")
        terminal.read_until("arya heard: line 1")
        terminal.read_until("will answer: ")
        terminal.type("quit")
        terminal.rest()
    assert said(shell) == [LINES]


@pytest.mark.parametrize("size", [(30, 45), (12, 100)])
def test_a_small_terminal_gets_plain_lines_and_is_told_why(shell: Shell, size: tuple[int, int]) -> None:
    with opened(shell, "chat", "arya", size=size) as terminal:
        terminal.read_until("the full-screen chat needs 50 columns and 15 rows")
        terminal.read_until("you ▸ ")
        assert WHOLE_SCREEN not in terminal.seen


def test_without_the_extra_there_are_plain_lines_and_how_to_get_it(shell: Shell, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\nfrom importlib.machinery import PathFinder\n"
        "found = PathFinder.find_spec\n"
        "PathFinder.find_spec = classmethod(\n"
        "    lambda cls, name, *more: None if name.split('.')[0] == 'textual' else found(name, *more)\n"
        ")\n",
        encoding="utf-8",
    )
    with opened(shell, "chat", "arya", env={"PYTHONPATH": str(tmp_path)}, fresh=True) as terminal:
        terminal.read_until("for the full-screen one: pip install 'moot[tui]'")
        terminal.read_until("you ▸ ")
        terminal.type("hello")
        terminal.read_until("arya heard: hello")


# --- what is not loaded ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "words",
    [("--help",), ("chat", "--help"), ("chat", "arya", "-m", "hi"), ("send", "arya", "hi"), ("conv", "list")],
)
def test_light_commands_do_not_load_it(shell: Shell, words: tuple[str, ...]) -> None:
    program = (
        "import sys, json\nfrom moot.cli.app import run\nrun(sys.argv[1:])\n"
        "print(json.dumps([name for name in sys.modules if name.startswith('textual')]), file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program, *words],
        capture_output=True,
        text=True,
        env={**shell.environ(), "PATH": os.environ["PATH"]},
        check=True,
        timeout=PATIENCE,
    )
    assert json.loads(done.stderr.splitlines()[-1]) == []


@pytest.mark.parametrize(
    ("environ", "light"),
    [
        ({}, False),
        ({"COLORFGBG": "0;15"}, True),
        ({"COLORFGBG": "15;0"}, False),
        ({"COLORFGBG": "0;default;15"}, True),
        ({"COLORFGBG": "0;15", "MOOT_THEME": "dark"}, False),
        ({"MOOT_THEME": "light"}, True),
    ],
)
def test_the_background_is_taken_from_what_the_terminal_says(environ: dict[str, str], light: bool) -> None:
    assert is_light(environ) is light
