"""What only a terminal shows: the pager, who is waited for, questions before something is taken away."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from moot.cli.terminal import pager
from moot.cli.terminal.progress import WaitingAgents
from tests.doors.cli.shell import Shell, Terminal, Told, make_home
from tests.support.waiting import PATIENCE

Moot = Callable[..., Told]


def ended(terminal: Terminal) -> str:
    """Everything it says, once it is over."""
    try:
        return terminal.rest()
    finally:
        terminal.close()


# --- pager ---------------------------------------------------------------------------------------------------


@pytest.fixture
def long(shell: Shell, moot: Moot) -> Shell:
    moot("chat", "arya", "-m", "\n".join(f"line {number}" for number in range(100)))
    return shell


def test_a_long_answer_goes_through_the_pager_on_a_terminal(long: Shell, tmp_path: Path) -> None:
    taken = tmp_path / "taken"
    environ = {"MOOT_PAGER": f"tee {taken}"}
    told = ended(Terminal(long, "conv", "show", "direct-arya+user", env=environ))
    assert "line 99" in taken.read_text()
    assert "line 99" in told
    taken.unlink()
    ended(Terminal(long, "conv", "list", env=environ))
    assert not taken.exists()
    long.moot("conv", "show", "direct-arya+user", env=environ)
    assert not taken.exists()


@pytest.mark.parametrize(
    "environ", [{"MOOT_PAGER": "cat"}, {"MOOT_PAGER": "no-such-pager"}, {"TERM": "dumb"}]
)
def test_without_a_pager_it_is_written_as_it_is(long: Shell, environ: dict[str, str]) -> None:
    assert "line 99" in ended(Terminal(long, "conv", "show", "direct-arya+user", env=environ))


def test_which_pager_is_taken() -> None:
    assert pager.pager_of({"MOOT_PAGER": "cat -n", "PAGER": "more"}) == ["cat", "-n"]
    assert pager.pager_of({"MOOT_PAGER": "cat"}) == []
    assert pager.pager_of({"MOOT_PAGER": ""}) == []
    assert pager.pager_of({"PAGER": "sort -r"}) == ["sort", "-r"]
    assert pager.pager_of({"PAGER": "sort", "MOOT_SCREEN_READER": "1"}) == []


def test_a_line_that_wraps_counts_as_often_as_it_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shutil.get_terminal_size", lambda: os.terminal_size((10, 5)))
    assert not pager.is_long("a\n" * 4)
    assert pager.is_long("a\n" * 5)
    assert pager.is_long("a" * 45)


# --- who is waited for ---------------------------------------------------------------------------------------


def test_a_line_comes_after_a_moment_and_tells_the_seconds() -> None:
    now = [0.0]
    waiting = WaitingAgents(now=lambda: now[0])
    waiting.begins("arya", "thinking")
    assert waiting.lines() == waiting.changes() == []
    now[0] = 0.5
    assert waiting.lines() == ["arya thinking…"]
    assert (waiting.changes(), waiting.changes()) == (["arya thinking"], [])
    now[0] = 3.2
    waiting.begins("gendry", "thinking")
    waiting.begins("arya", "thinking")
    assert waiting.lines() == ["arya thinking 3s"]
    waiting.begins("arya", "writing")
    now[0] = 4.2
    assert waiting.lines() == ["arya writing 1s", "gendry thinking 1s"]
    assert waiting.changes() == ["arya writing", "gendry thinking"]
    waiting.ends("arya")
    now[0] = 130
    assert waiting.lines() == ["gendry thinking 127s, no progress for 2 min"]


@pytest.mark.req("P-08")
def test_waiting_shows_who_is_waited_for_and_leaves_no_trace(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home", {"steady": "steady", "slow": "slow"})
    terminal = Terminal(shell, "send", "steady", "hello")
    terminal.read_until("● steady  thinking")
    terminal.read_until("● steady  thinking ")  # and for how many seconds
    (shell.home / "go").touch()
    answered = ended(terminal)
    assert "finished in good order" in answered
    given_up = ended(Terminal(shell, "send", "slow", "hello", "--timeout", "0.9"))
    assert "no answer in time." in given_up
    for seen in (answered, given_up):
        left = [line.rpartition("\r")[2] for line in seen.replace("\r\n", "\n").split("\n")]
        assert not [line for line in left if "thinking" in line]


@pytest.mark.req("P-08")
def test_a_pipe_is_told_nothing_of_it_unless_plain_lines_are_asked_for(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home", {"steady": "steady", "slow": "slow"})
    piped = shell.moot("chat", "slow", "-m", "hello", "--timeout", "0.9")
    assert piped.err == "no answer in time. The message stays queued as direct-slow+user:1.\n"
    plain = shell.start("chat", "steady", "-m", "hello", "--plain")
    assert plain.stderr is not None
    assert plain.stderr.readline() == "status: steady thinking\n"
    (shell.home / "go").touch()
    out, _ = plain.communicate(timeout=PATIENCE)
    assert "finished in good order" in out


# --- questions -----------------------------------------------------------------------------------------------


def test_what_takes_something_away_asks_first(shell: Shell, moot: Moot) -> None:
    moot("conv", "new", "work", "--with", "arya,gendry")
    terminal = Terminal(shell, "chat", "--conv", "work")
    try:
        terminal.read_until("you ▸ ")
        terminal.type("/group remove gendry")
        terminal.read_until("remove them from #work? [y/N] ")
        terminal.type("n")
        terminal.read_until("you ▸ ")
        terminal.type("/group remove gendry")
        terminal.read_until("[y/N] ")
        terminal.type("y")
        terminal.read_until("work: user, arya")
        terminal.read_until("you ▸ ")
        terminal.type("/group dissolve")
        terminal.read_until("dissolve #work? [y/N] ")
        terminal.type("yes")
        terminal.read_until("work is dissolved; its history stays readable")
        terminal.read_until("will answer: arya (forced)")
        terminal.read_until("you ▸ ")
        terminal.type("hello again")
        terminal.read_until("arya heard: hello again")
        terminal.read_until("you ▸ ")
        terminal.type("/quit")
        assert terminal.process.wait(timeout=PATIENCE) == 0
    finally:
        terminal.close()
    kinds = {c["kind"] for c in moot("conv", "list", "--json").json}
    assert kinds == {"direct"}


def test_a_shell_asks_too(shell: Shell, moot: Moot) -> None:
    moot("conv", "new", "work", "--with", "arya")
    terminal = Terminal(shell, "conv", "dissolve", "work")
    terminal.read_until("Dissolve #work? Its history stays readable. [y/N]: ")
    terminal.type("n")
    ended(terminal)
    assert len(moot("conv", "list", "--json").json) == 1
