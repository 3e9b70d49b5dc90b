"""Agents as processes of their own: start, find, kill, restart; what was owed is done once (A-06, A-07, A-10)."""

import asyncio
import fcntl
import json
import os
import signal
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path
from threading import Timer

import pytest

from moot import Hub
from moot.host.liveness import is_alive
from moot.hub.process import daemons
from moot.hub.process.hub_lock import HubLock, announced_by, running_hub
from moot.settings import Home
from tests.doors.cli.shell import Shell, make_home, until
from tests.support.elsewhere import free_port
from tests.support.waiting import PATIENCE

HOST_POINTS = ("host.attached", "host.claimed", "host.prethink", "host.thought", "host.finished")
LEASE = "[host]\nlease_seconds = 3600.0\n"
"""Who is missed before a test loses its patience was not missed by a lease that ran out."""
ROOM = ("conv", "new", "room", "--with", "arya,gendry")


@pytest.fixture
def team(tmp_path: Path) -> Iterator[Shell]:
    shell = make_home(tmp_path / "home", more=f"reactive_round = false\n{LEASE}")
    yield shell
    shell.moot("agents", "stop", "--all")
    shell.moot("stop")


def kill(pid: int) -> None:
    """Until it is gone: a process that is to die needs a processor for that."""
    os.kill(pid, signal.SIGKILL)
    until(lambda: not is_alive(pid))


def said(shell: Shell, where: str = "room") -> list[tuple[str, str]]:
    shown = shell.moot("conv", "show", where, "--json").json
    return [(m["from"], m["text"]) for m in shown["messages"] if m["kind"] in ("human", "agent")]


@pytest.mark.req("A-06")
def test_a_daemon_has_a_pid_file_a_socket_and_a_log_and_leaves_nothing_behind(team: Shell) -> None:
    told = team.fresh("agent", "start", "arya", "--json")  # returns only if the daemon lets go of its pipes
    assert told.code == 0
    started = told.json
    home = Home(team.home)
    assert home.pid_of("arya").read_text().strip() == str(started["pid"])
    assert started["socket"] == str(home.socket_of("arya"))
    assert (home.log_of("arya").stat().st_mode & 0o777) == 0o600
    again = team.moot("agent", "start", "arya")
    assert again.code != 0
    assert f"already runs as a daemon (pid {started['pid']})" in again.err
    [row] = team.moot("agent", "status", "arya", "--json").json
    assert row["reachability"] == "live"
    assert row["host"]["pid"] == started["pid"]
    assert row["host"]["daemon"] is True
    assert team.moot("agent", "stop", "arya").code == 0
    assert not home.pid_of("arya").exists()
    assert not home.socket_of("arya").exists()
    assert team.moot("agent", "stop", "arya").code == 3
    assert team.moot("agent", "logs", "arya", "--json").json["path"] == str(home.log_of("arya"))
    assert team.moot("agent", "logs", "gendry").code == 3
    assert team.moot("agent", "start", "nobody").code == 3


@pytest.mark.req("A-06", "A-07")
def test_two_daemons_and_no_hub_are_both_heard(team: Shell) -> None:
    for name in ("arya", "gendry"):
        assert team.moot("agent", "start", name).code == 0
    team.moot(*ROOM)
    told = team.moot("send", "--conv", "room", "@arya @gendry ready?", "--json").json
    assert told["outcome"] == "replied"
    assert [reply["from"] for reply in told["replies"]] == ["arya", "gendry"]
    assert team.moot("agents", "restart", "arya", "--json").json["pid"] > 0
    again = team.moot("agents", "restart", "--all", "--json").json
    assert [one["name"] for one in again] == ["arya", "gendry"]
    assert team.moot("agents", "restart").code == 2


@pytest.mark.req("M-01")
def test_a_ping_tells_its_three_steps(team: Shell) -> None:
    team.moot("agent", "start", "arya")
    told = team.moot("agent", "ping", "arya", "--think", "--json").json
    assert (told["known"], told["woken"], told["answered"]) == (True, True, "yes")
    away = team.moot("agent", "ping", "gendry", "--json")
    assert away.code == 1
    assert (away.json["woken"], away.json["answered"]) == (False, "not asked")
    assert "not asked: no process to answer" in team.moot("agent", "ping", "gendry", "--think").out
    assert team.moot("agent", "ping", "nobody").code == 3


@pytest.mark.req("A-10")
@pytest.mark.parametrize("point", HOST_POINTS)
def test_a_daemon_killed_at_any_point_is_heard_once_after_its_restart(team: Shell, point: str) -> None:
    team.moot(*ROOM)
    assert team.moot("agent", "start", "gendry").code == 0
    killed = team.moot("agent", "start", "arya", env={"MOOT_FAILPOINT": f"{point}:kill:1"})
    assert killed.code == (9 if point == "host.attached" else 0), killed.err
    sent = team.moot("send", "--conv", "room", "@arya @gendry ready?", "--no-wait", "--json")
    assert sent.json["outcome"] == "queued"
    until(lambda: daemons.running(Home(team.home), "arya") is None)
    assert team.moot("agent", "start", "arya").code == 0
    until(lambda: len(said(team)) == 3)
    team.moot("agent", "stop", "--all")
    heard = said(team)
    assert sorted(name for name, _ in heard) == ["arya", "gendry", "user"]


@pytest.mark.req("A-10", "M-01")
def test_who_was_down_for_fifty_messages_catches_up_in_one_turn(team: Shell) -> None:
    team.moot(*ROOM)
    first = team.moot("send", "--conv", "room", "@arya message 1", "--no-wait", "--json")
    [arya] = [d for d in first.json["receipt"]["deliveries"] if d["agent"] == "arya"]
    assert (arya["state"], arya["reachability"]) == ("owed", "away")
    asyncio.run(_post(team, 49))
    assert team.moot("agent", "start", "arya").code == 0
    until(lambda: any(name == "arya" for name, _ in said(team)))
    turns = [t for t in team.moot("turns", "--agent", "arya", "--json").json if t["state"] == "said"]
    assert [(t["lo"], t["hi"]) for t in turns] == [(0, 50)]


async def _post(team: Shell, many: int) -> None:
    async with Hub.open(team.home) as hub:
        for n in range(many):
            await hub.post("room", f"@arya message {n + 2}")


def test_a_daemon_killed_hard_does_not_fool_anybody(team: Shell) -> None:
    pid = team.moot("agent", "start", "arya", "--json").json["pid"]
    os.kill(pid, signal.SIGKILL)
    until(lambda: daemons.running(Home(team.home), "arya") is None)
    assert Home(team.home).pid_of("arya").exists()
    assert team.moot("agent", "start", "arya").code == 0


@pytest.mark.req("A-06")
def test_the_hub_leaves_agents_alone_that_have_a_daemon(team: Shell) -> None:
    daemon = team.moot("agent", "start", "arya", "--json").json["pid"]
    hub = team.fresh("up", "--detach", "--json").json["pid"]  # returns only if the hub lets go of its pipes
    rows = {row["name"]: row for row in team.moot("agent", "status", "--json").json}
    assert rows["arya"]["host"]["pid"] == daemon
    assert rows["gendry"]["host"]["pid"] == hub
    assert team.moot("up", "--detach").code == 9
    assert team.moot("stop", "--json").json == {"stopped": [hub]}
    assert team.moot("stop", "--json").json == {"stopped": []}


@pytest.mark.req("A-06")
def test_a_hub_whose_port_is_taken_is_never_reported_as_up(team: Shell) -> None:
    """Its socket answers for a moment before it notices: half of the time that moment was met."""
    Home(team.home).make()
    (team.home / "logs" / "hub.log").write_text("what an earlier run said\n")
    port = str(free_port())
    with socket.create_server(("127.0.0.1", int(port))):
        for _ in range(4):
            told = team.moot("up", "--detach", "--port", port)
            assert (told.code, told.out) == (9, "")
            assert "the hub did not start (exit 9)" in told.err
            assert f"error[E401] port {port} is used by" in told.err
            assert "an earlier run" not in told.err
            assert told.err.count("error[E401]") == 1
    up = team.moot("up", "--detach", "--port", port, "--json")
    assert (up.code, up.json["port"]) == (0, int(port))


@pytest.mark.req("A-06")
def test_a_detached_hub_says_where_it_is_with_a_line_to_try_it(team: Shell) -> None:
    told = team.moot("up", "--detach")
    hub = running_hub(Home(team.home))
    assert hub is not None
    first, *lines = told.out.splitlines()
    assert first == f"hub up on {team.home} (pid {hub['pid']})"
    assert lines[0] == f"  page   {hub['url']}        sign in   moot open"
    curl = lines[1].removeprefix("  try    ")
    asked = subprocess.run(["sh", "-c", curl], capture_output=True, check=True, timeout=PATIENCE)
    assert b'"name":"arya"' in asked.stdout.replace(b": ", b":")
    assert lines[2] == f"  log    {team.home / 'logs' / 'hub.log'}        stop   moot stop"


def test_what_a_killed_hub_announced_is_never_taken_for_the_next_ones(tmp_path: Path) -> None:
    """Where process ids begin anew, as in a container, it may even have the same."""
    home = Home(tmp_path)
    home.make()
    home.hub_json.write_text(json.dumps({"pid": os.getpid(), "url": "http://127.0.0.1:1"}))
    with HubLock(home) as lock:
        assert announced_by(home, os.getpid()) is None
        lock.announce("i1")
        told = announced_by(home, os.getpid())
        assert told is not None
        assert told["instance"] == "i1"
        assert announced_by(home, os.getpid() + 1) is None


@pytest.mark.req("A-06")
@pytest.mark.parametrize("name", ["", "of a hub that was killed"])
def test_a_process_that_only_looks_keeps_no_hub_from_starting(tmp_path: Path, name: str) -> None:
    """Commands look whether a hub holds the lock, and hold it for that moment: a long one on a busy machine."""
    home = Home(tmp_path)
    with HubLock(home):
        pass
    killed = subprocess.Popen(["true"])
    killed.wait()
    (home.run / "hub.lock").write_text(f"{killed.pid}\n" if name else "")
    looking = (home.run / "hub.lock").open()
    fcntl.flock(looking, fcntl.LOCK_SH)
    gone = Timer(0.5, looking.close)
    gone.start()
    with HubLock(home) as lock:
        assert lock.announce("i1")["pid"] == os.getpid()
    gone.join()


def test_an_agent_that_cannot_start_says_why(team: Shell) -> None:
    (team.home / "moot.toml").write_text('[[agents]]\nname = "arya"\nbrain = "code:nowhere:at_all"\n')
    told = team.moot("agent", "start", "arya")
    assert told.code != 0
    assert "arya did not start" in told.err
    assert "nowhere" in told.err


@pytest.mark.req("A-10")
def test_a_daemon_that_was_killed_is_missed_at_once(team: Shell) -> None:
    """Its lease has not run out: that its process is gone is enough."""
    pid = team.moot("agent", "start", "arya", "--json").json["pid"]
    assert team.moot("send", "arya", "one", "--json").json["outcome"] == "replied"
    kill(pid)
    told = team.moot("send", "arya", "two", "--json").json
    assert (told["outcome"], told["replies"][0]["text"]) == ("replied", "arya heard: two")


@pytest.mark.req("A-10")
@pytest.mark.parametrize("words", [("agent", "start", "arya"), ("up", "--detach")])
def test_whose_process_was_killed_is_shown_as_away_at_once(team: Shell, words: tuple[str, ...]) -> None:
    """Looking writes nothing, so nobody has noted it yet; and the lease runs on."""
    pid = team.moot(*words, "--json").json["pid"]
    assert states(team)["arya"] == "idle"
    kill(pid)
    assert states(team)["arya"] == "away"
    [row] = team.moot("agent", "status", "arya", "--json").json
    assert (row["status"], row["reachability"]) == ("offline", "away")
    assert row["host"] == {"daemon": False}


@pytest.mark.req("A-10")
def test_whose_process_was_killed_in_its_turn_is_not_shown_as_thinking(team: Shell) -> None:
    pid = team.moot("agent", "start", "slow", "--json").json["pid"]
    team.moot("send", "slow", "hello", "--no-wait")
    until(lambda: states(team)["slow"] == "thinking")
    kill(pid)
    assert states(team)["slow"] == "away"


def states(team: Shell) -> dict[str, str]:
    return {agent["name"]: agent["state"] for agent in team.moot("status", "--json").json["agents"]}


@pytest.mark.req("A-10")
@pytest.mark.req("M-01")
def test_a_running_hub_misses_a_daemon_that_was_killed_at_once(team: Shell) -> None:
    pid = team.moot("agent", "start", "arya", "--json").json["pid"]
    team.moot("up", "--detach")
    assert team.moot("chat", "arya", "-m", "one", "--json").json["outcome"] == "replied"
    kill(pid)
    told = team.moot("chat", "arya", "-m", "two", "--json").json
    assert told["outcome"] == "owed"
    team.moot("agent", "start", "arya")
    texts = ["arya heard: one", "arya heard: two"]
    until(lambda: [m["text"] for m in team.moot("tail", "--agent", "arya", "--json").json] == texts)


def test_a_process_that_nobody_asked_for_after_its_death_is_not_alive() -> None:
    child = subprocess.Popen(["true"])
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)  # it has ended, and stays as a zombie
    os.kill(child.pid, 0)
    assert not is_alive(child.pid)
    child.wait()
    assert not is_alive(child.pid)
    assert is_alive(os.getpid())
