"""`moot up` and other processes beside it: hints, one hub per home, draining, two writers."""

import json
import os
import signal
import socket
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from moot.errors import HubRunning
from moot.hub.process import hub_lock
from moot.settings import Home
from tests.doors.cli.shell import AGENTS, Shell, Told, make_home, until
from tests.support.waiting import PATIENCE

FOR_AN_HOUR = ("--drain", "3600")
"""Running turns may go on for so long: who ends within the patience of a test did not wait for them."""


@pytest.fixture
def up(tmp_path: Path) -> Iterator["Up"]:
    shell = make_home(tmp_path / "home", {**AGENTS, "steady": "steady"})
    running = Up(shell, *FOR_AN_HOUR)
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.communicate()


class Up:
    """A hub in a process of its own."""

    def __init__(self, shell: Shell, *flags: str) -> None:
        self.shell = shell
        self.process = shell.start("up", "--json", *flags)
        assert self.process.stdout is not None
        self.told = json.loads(self.process.stdout.readline())

    def stop(self, number: int = signal.SIGTERM) -> int:
        self.process.send_signal(number)
        self.process.communicate(timeout=PATIENCE)
        return self.process.returncode

    def begin_to_stop(self) -> None:
        """Until it has heeded the signal: then nobody is let in any more. Two signals that come at once are one."""
        self.process.terminate()
        until(lambda: not self._answers())

    def _answers(self) -> bool:
        try:
            socket.create_connection((self.told["host"], self.told["port"]), PATIENCE).close()
        except ConnectionError:
            return False
        return True


def test_it_says_where_it_is(up: Up) -> None:
    assert up.told["pid"] == up.process.pid
    assert set(up.told) == {"pid", "host", "port", "url", "instance", "version", "started_at"}
    run = up.shell.home / "run"
    assert json.loads((run / "hub.json").read_bytes()) == up.told
    assert (run / "hub.sock").stat().st_mode & 0o777 == 0o600
    told = up.shell.moot("doctor", "--json").json
    assert f"running (pid {up.process.pid})" in [check["text"] for check in told["checks"]]


def test_its_agents_answer_another_process_at_once(tmp_path: Path) -> None:
    """By a hint: the hub would look by itself only in an hour."""
    shell = make_home(tmp_path / "home", more="[host]\nsweep_seconds = 3600.0\n")
    up = Up(shell)
    try:
        told = shell.moot("send", "arya", "hello", "--json")
        _, answered = shell.moot("tail", "--json").json
        assert answered["text"] == told.json["replies"][0]["text"] == "arya heard: hello"
        assert told.json["receipt"]["deliveries"][0]["reachability"] == "live"
        [arya] = [a for a in shell.moot("agents", "list", "--json").json if a["name"] == "arya"]
        assert arya["reachability"] == "live"
    finally:
        up.stop()


def test_a_second_hub_on_the_home_is_refused_at_once_and_names_the_first(
    up: Up, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hub_lock, "PATIENCE_SECONDS", 3600.0)
    with pytest.raises(HubRunning), hub_lock.HubLock(Home(up.shell.home)):
        pass
    second = up.shell.fresh("up")
    assert second.code == 9
    assert second.err.startswith(
        f"error[E403] a hub is already running on {up.shell.home} (pid {up.process.pid})\n"
    )
    assert up.process.poll() is None
    assert up.shell.moot("send", "arya", "still there?").code == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_ends_in_good_order(up: Up, number: int) -> None:
    assert up.stop(number) == 0
    left = sorted(path.name for path in (up.shell.home / "run").iterdir())
    assert "hub.json" not in left
    assert "hub.sock" not in left
    [arya] = [a for a in up.shell.moot("agents", "list", "--json").json if a["name"] == "arya"]
    assert arya["reachability"] == "away"


def test_a_running_turn_may_end_before_it_stops(up: Up) -> None:
    up.shell.moot("send", "steady", "hello", "--no-wait")
    wait_for_turn(up.shell, "steady", "running")
    up.begin_to_stop()
    assert up.process.poll() is None
    (up.shell.home / "go").touch()
    up.process.communicate(timeout=PATIENCE)
    assert up.process.returncode == 0
    texts = [message["text"] for message in up.shell.moot("tail", "--json").json]
    assert texts == ["hello", "finished in good order"]


def test_a_second_signal_gives_running_turns_back_at_once(up: Up) -> None:
    up.shell.moot("send", "slow", "hello", "--no-wait")
    wait_for_turn(up.shell, "slow", "running")
    up.begin_to_stop()
    assert up.process.poll() is None
    assert up.stop() == 0
    [turn] = up.shell.moot("turns", "--agent", "slow", "--json").json
    assert turn["state"] in ("ready", "owed")


def wait_for_turn(shell: Shell, agent: str, state: str) -> None:
    until(lambda: states_of(shell, agent) == [state])


def states_of(shell: Shell, *agent: str) -> list[str]:
    """Of the turns of one agent, or of all."""
    words = ("--agent", *agent) if agent else ()
    return [turn["state"] for turn in shell.moot("turns", *words, "--json").json]


def test_a_killed_hub_leaves_nothing_that_stops_the_next(up: Up) -> None:
    up.process.kill()
    up.process.communicate()
    told = up.shell.moot("doctor", "--json").json
    assert {check["state"] for check in told["checks"] if check["check"] == "hub"} == {"warn"}
    again = Up(up.shell)
    assert again.told["pid"] == again.process.pid
    assert again.stop() == 0


@pytest.mark.parametrize(
    "words", [("send", "steady", "hello"), ("ask", "steady", "hello"), ("chat", "steady", "-m", "hello")]
)
def test_a_hub_that_goes_away_meanwhile_leaves_the_message_and_that_is_said(
    up: Up, words: tuple[str, ...]
) -> None:
    sending = up.shell.start(*words, "--json")
    wait_for_turn(up.shell, "steady", "running")
    up.process.kill()
    out, err = sending.communicate(timeout=PATIENCE)
    gone = Told(sending.returncode, out, err)
    assert (gone.code, gone.out) == (9, "")
    assert gone.error["title"] == "the hub stopped before the answer arrived"
    start, look = gone.error["fix"]
    assert gone.error["detail"].startswith(f"the message is kept as {look.rpartition(' ')[2]}:1, ")
    assert start == "moot up"
    (up.shell.home / "go").touch()
    again = Up(up.shell)
    try:
        wait_for_turn(up.shell, "steady", "said")
    finally:
        again.stop()
    shown = up.shell.moot(*look.split()[1:], "--json").json
    assert [m["text"] for m in shown["messages"]] == ["hello", "finished in good order"]
    assert shown["messages"][0]["id"] == gone.error["message"]


def test_a_hub_that_goes_away_during_a_broadcast_leaves_the_messages(up: Up) -> None:
    sending = up.shell.start("send", "--all", "hello", "--json")
    wait_for_turn(up.shell, "steady", "running")
    until(lambda: len(states_of(up.shell)) == len(AGENTS) + 1)  # the message is with everybody
    up.process.kill()
    out, err = sending.communicate(timeout=PATIENCE)
    gone = Told(sending.returncode, out, err).error
    assert gone["detail"] == "the messages are kept, and will be answered when a hub runs again"
    assert gone["fix"] == ["moot up", "moot tail"]
    assert len(up.shell.moot("inbox", "--agent", "steady", "--json").json) == 1


def test_what_waited_is_answered_when_the_hub_comes_up(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home")
    assert shell.moot("send", "arya", "are you there?", "--no-wait", "--json").json["outcome"] == "queued"
    assert len(shell.moot("tail", "--json").json) == 1
    running = Up(shell)
    try:
        until(lambda: len(shell.moot("tail", "--json").json) == 2)
        assert shell.moot("tail", "--json").json[1]["text"] == "arya heard: are you there?"
    finally:
        running.stop()


def test_two_processes_write_to_one_home(shell: Shell) -> None:
    shell.moot("conv", "new", "work", "--with", "quiet", "--strategy", "mention_only")

    def write(name: str) -> list[Told]:
        return [
            shell.moot("send", "--conv", "work", f"{name} {n}", "--no-wait", "--json") for n in range(1, 7)
        ]

    with ThreadPoolExecutor(2) as writers:
        told = [one for many in writers.map(write, ("one", "two")) for one in many]
    assert {(one.code, one.err) for one in told} == {(0, "")}
    acked = [one.json["receipt"]["seq"] for one in told]
    assert sorted(acked) == list(range(1, 13))
    stored = shell.moot("conv", "show", "work", "--json").json["messages"]
    assert [message["seq"] for message in stored] == list(range(1, 13))
    assert shell.moot("doctor").code == 0


def test_ctrl_c_stops_the_waiting_and_keeps_the_message(shell: Shell) -> None:
    process = shell.start("chat", "slow", "-m", "hello", "--plain")
    assert process.stderr is not None
    assert process.stderr.readline() == "status: slow thinking\n"
    os.kill(process.pid, signal.SIGINT)
    _, err = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "The message stays queued as " in err
    assert "Traceback" not in err
    assert [message["text"] for message in shell.moot("tail", "--json").json] == ["hello"]


def test_a_hub_in_the_background_names_the_line_that_is_wrong_in_moot_toml(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home", {})
    (shell.home / "moot.toml").write_text('[[agents]]\nname = "arya"\nbrain = demo\n')
    told = shell.moot("up", "--detach")
    assert told.code == 2
    assert told.err.startswith("error[E103] moot.toml:3:9 is not TOML")
