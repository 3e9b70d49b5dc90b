"""`--watch` and `logs`: what is shown again when it changes, and what processes have written down."""

import json
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from tests.doors.cli.shell import Forked, Shell, Terminal, Told
from tests.support.waiting import PATIENCE

Moot = Callable[..., Told]


pytestmark = pytest.mark.req("P-08")


@pytest.fixture
def running(shell: Shell) -> Iterator[Callable[..., Forked]]:
    """Commands that go on until they are told to stop."""
    started: list[Forked] = []

    def start(*words: str) -> Forked:
        started.append(shell.start(*words))
        return started[-1]

    yield start
    for process in started:
        process.kill()
        process.communicate()


def lines_until(process: Forked, wanted: Callable[[str], bool]) -> list[str]:
    assert process.stdout is not None
    seen: list[str] = []
    until = time.monotonic() + PATIENCE
    while not seen or not wanted(seen[-1]):
        assert time.monotonic() < until, seen
        seen.append(process.stdout.readline())
        assert seen[-1], f"it ended: {seen}"
    return seen


@pytest.mark.req("S-02")
def test_the_log_of_a_link_is_followed_with_what_is_said_done_and_refused(
    moot: Moot, running: Callable[..., Forked]
) -> None:
    link = moot("links", "new", "arya", "gendry", "--json").json["id"]
    following = running("links", "log", "arya,gendry", "-f", "--json")
    [made] = [json.loads(line) for line in lines_until(following, bool)]
    assert made["what"] == "link.created"
    moot("send", "gendry", "are you there, at last?", "--as", "arya", "--no-wait")
    said = json.loads(lines_until(following, lambda line: json.loads(line)["by"] == "arya")[-1])
    assert (said["what"], said["text"]) == ("message", "are you there, at last?")
    moot("links", "disable", link)
    lines_until(following, lambda line: json.loads(line)["what"] == "link.changed")
    assert moot("send", "gendry", "hello?", "--as", "arya", "--no-wait").code == 5
    lines_until(following, lambda line: json.loads(line)["what"] == "refused")
    moot("links", "rm", link, "--purge-history", "--yes")
    lines_until(following, lambda line: json.loads(line)["what"] == "link.deleted")
    assert "deleted the link" in moot("links", "log", link).out, "and after it was erased"


def test_status_is_shown_again_when_it_has_changed(moot: Moot, running: Callable[..., Forked]) -> None:
    moot("conv", "new", "build", "--with", "arya")
    watching = running("status", "--watch", "--json")
    [first] = lines_until(watching, bool)
    assert json.loads(first)["done"] == []
    moot("send", "--conv", "build", "@arya hello")

    def is_done(line: str) -> bool:
        told: dict[str, Any] = json.loads(line)
        return [row["agent"] for row in told["done"]] == ["arya"]

    lines_until(watching, is_done)


def test_in_a_pipe_each_answer_stands_behind_the_last_without_escapes(
    moot: Moot, running: Callable[..., Forked]
) -> None:
    watching = running("agents", "status", "--watch", "arya")
    seen = lines_until(watching, lambda line: "arya" in line)
    moot("send", "arya", "hello")
    seen += lines_until(watching, lambda line: "just now" in line)
    assert "\x1b" not in "".join(seen)
    said = [line for line in seen if line.strip()]
    assert all("runs in" in head for head in said[::2])
    assert all("arya" in row for row in said[1::2])
    assert len(said) >= 4, "before and after; also in between, if it is looked at while arya thinks"


def test_on_a_terminal_it_is_drawn_in_place_until_interrupted(shell: Shell) -> None:
    terminal = Terminal(shell, "status", "--watch", env={"LINES": "8", "COLUMNS": "80"})
    try:
        terminal.read_until("\x1b[H\x1b[J")
        terminal.read_until("hub      not running")
        terminal.read_until("more lines")
        terminal.process.send_signal(2)
        assert terminal.process.wait(timeout=PATIENCE) == 130
    finally:
        terminal.close()


def test_a_dumb_terminal_gets_no_escapes(shell: Shell) -> None:
    terminal = Terminal(shell, "status", "--watch", env={"TERM": "dumb"})
    try:
        terminal.read_until("done")
        assert "\x1b" not in terminal.seen
    finally:
        terminal.close()


# --- logs ----------------------------------------------------------------------------------------------------


def test_the_log_of_the_hub(shell: Shell, moot: Moot) -> None:
    told = moot("logs")
    assert told.err == (
        "error[E201] the hub has no log: it has never run in the background\n"
        "  fix   moot up --detach\n"
        "  more  moot explain E201\n"
    )
    assert shell.moot("up", "--detach").code == 0
    assert shell.moot("stop").code == 0
    assert moot("logs").out.splitlines()[-1] == "stopped"
    told = moot("logs", "--lines", "1", "--json").json
    assert told == {"path": str(shell.home / "logs" / "hub.log"), "lines": ["stopped"]}


def test_a_hub_in_the_foreground_says_where_its_log_is(shell: Shell, moot: Moot) -> None:
    hub = shell.start("up", "--json")
    try:
        assert hub.stdout is not None
        pid = json.loads(hub.stdout.readline())["pid"]
        assert moot("logs").err.startswith(
            f"error[E201] the hub (pid {pid}) logs to the terminal it was started in\n"
        )
    finally:
        hub.terminate()
        hub.communicate()


def test_a_log_is_followed_also_when_it_begins_anew(shell: Shell, running: Callable[..., Forked]) -> None:
    path = shell.home / "logs" / "hub.log"
    path.parent.mkdir()
    path.write_text("one\n\x1b[31mred\x1b[0m\n")
    following = running("logs", "-f")
    seen = lines_until(following, lambda line: "red" in line)
    assert seen == ["one\n", "\\x1b[31mred\\x1b[0m\n"]
    with path.open("a") as file:
        file.write("two\nthr")
        file.flush()
        assert lines_until(following, lambda line: line == "two\n") == ["two\n"]
        file.write("ee\n")
    assert lines_until(following, bool) == ["three\n"]
    path.write_text("new\n")
    assert lines_until(following, bool) == ["new\n"]


def test_a_followed_log_in_json_is_one_object_a_line(shell: Shell, running: Callable[..., Forked]) -> None:
    path = shell.home / "logs" / "arya.log"
    path.parent.mkdir()
    path.write_text("one\n")
    following = running("agents", "logs", "arya", "-f", "--json")
    assert [json.loads(line) for line in lines_until(following, bool)] == [{"line": "one"}]
