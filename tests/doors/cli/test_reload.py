"""moot.toml edited while a hub runs, `moot reload`, SIGHUP, and a terminal that is closed."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.doors.cli.shell import MOOT, Shell, make_home
from tests.doors.cli.test_hub import Up
from tests.support.stopwatch import Stopwatch
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("S-12")

LINKS = '\n[[links]]\nfrom = "arya"\nto = "gendry"\nrelationship = "superior"\n'
IN_ITS_TERMINAL = """
import fcntl, os, signal, sys, termios
signal.signal(signal.SIGHUP, signal.SIG_DFL)  # whoever runs the tests may have it ignored
os.setsid()
fcntl.ioctl(0, termios.TIOCSCTTY, 0)
os.execv(sys.argv[1], sys.argv[1:])
"""
SECONDS = 2.0
"""Within which a running hub follows the file."""
SLOWER = float(os.environ.get("MOOT_BUDGET_SCALE", "1"))


@pytest.fixture
def up(tmp_path: Path) -> Iterator[Up]:
    running = Up(make_home(tmp_path / "home"))
    yield running
    if running.process.poll() is None:
        running.process.kill()
    running.process.communicate()


def write(shell: Shell, change: Callable[[str], str]) -> None:
    """As editors do: a new file in place of the old one."""
    toml = shell.home / "moot.toml"
    draft = toml.with_name("moot.toml.swp")
    draft.write_text(change(toml.read_text()))
    draft.replace(toml)


def settled(shell: Shell) -> None:
    """Nobody has written it for a while."""
    os.utime(shell.home / "moot.toml", (1_700_000_000, 1_700_000_000))


def sentences(shell: Shell) -> list[str]:
    return [link["sentence"] for link in shell.moot("links", "list", "--json").json]


def in_force(up: Up) -> list[str]:
    """As the hub itself says."""
    token = (up.shell.home / "run" / "token").read_text().strip()
    headers = {"Authorization": f"Bearer {token}"}
    answer = httpx2.get(f"{up.told['url']}/api/links", headers=headers, timeout=PATIENCE)
    return [link["sentence"] for link in answer.json()["links"]]


def until(look: Callable[[], Any], wanted: Any, seconds: float = PATIENCE) -> float:
    """Seconds that it took."""
    watch = Stopwatch()
    while (seen := look()) != wanted:
        assert not watch.is_over(seconds), seen
    return watch.seconds()


def reports(shell: Shell, kind: str) -> list[Any]:
    """From the store: bodies of what was reported."""
    import apsw  # noqa: PLC0415

    connection = apsw.Connection(str(shell.home / "moot.db"), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        rows = connection.execute("SELECT body FROM events WHERE type = ? ORDER BY id", (kind,)).fetchall()
    finally:
        connection.close()
    return [json.loads(str(row[0])) for row in rows]


@pytest.mark.alone
def test_links_follow_the_file_within_two_seconds_and_a_broken_one_changes_nothing(up: Up) -> None:
    shell = up.shell
    write(shell, lambda text: text + LINKS)
    made = until(lambda: in_force(up), ["arya is superior of gendry. Both may start."])
    assert made < SECONDS * SLOWER
    refused = shell.moot("send", "quiet", "hello", "--as", "arya")
    assert "arya is bound by its links" in refused.err

    write(shell, lambda text: text.replace('"superior"', '"superior'))
    until(lambda: len(reports(shell, "config.refused")), 1)
    [told] = reports(shell, "config.refused")
    line = (shell.home / "moot.toml").read_text().split("\n").index('relationship = "superior') + 1
    assert told["title"].startswith(f"moot.toml:{line}:")
    assert told["detail"].split("\n")[1].strip(" |") == "^"
    assert in_force(up) == ["arya is superior of gendry. Both may start."]

    (shell.home / "moot.toml").write_text((shell.home / "moot.toml").read_text().partition("[[links]]")[0])
    gone = until(lambda: in_force(up), [])
    assert gone < SECONDS * SLOWER
    assert up.process.poll() is None
    up.process.terminate()
    _, err = up.process.communicate(timeout=PATIENCE)
    [logged] = [json.loads(each) for each in err.splitlines() if "config_refused" in each]
    assert logged["event"] == f"{told['title']}\n{told['detail']}"


def test_a_hub_that_hangs_up_reads_the_file_again(up: Up) -> None:
    (up.shell.home / "moot.toml").write_text(
        (up.shell.home / "moot.toml").read_text() + '[hub]\npolicy = "open"\nport = 4\n'
    )
    up.process.send_signal(signal.SIGHUP)
    until(lambda: bool(reports(up.shell, "config.reloaded")), True)
    [told, *_] = reports(up.shell, "config.reloaded")
    assert [change["text"] for change in told["changes"]] == ['hub.policy = "open" (was "auto")']
    assert up.stop() == 0


def test_reload_says_what_changed_and_what_needs_a_restart(up: Up) -> None:
    shell = up.shell
    write(
        shell,
        lambda text: text + LINKS + '[[agents]]\nname = "fin"\nbrain = "demo"\n[host]\nlease_seconds = 9.0\n',
    )
    told = shell.moot("reload")
    assert (told.code, told.out.splitlines()[0]) == (
        0,
        f"✓ moot.toml was read by the hub (pid {up.process.pid})",
    )
    seen = told.out + "".join(str(report) for report in reports(shell, "config.reloaded"))
    assert "fin was added" in seen, "the hub may have seen it by itself"
    assert "arya is superior of gendry. Both may start." in seen
    assert (
        "  host.lease_seconds takes effect when the hub starts again: moot stop, then moot up\n" in told.err
    )
    assert shell.moot("send", "fin", "hello", "--json").json["outcome"] == "replied"
    again = shell.moot("reload", "--json").json
    assert (again["changes"], again["restart"], again["troubles"]) == ([], ["host.lease_seconds"], [])
    assert "fin was added" in [change["text"] for change in again["applied"]]
    write(shell, lambda text: text.replace('"gendry"\nrelationship', '"gendri"\nrelationship'))
    broken = shell.moot("reload")
    assert broken.code == 2
    assert 'to = "gendri" is not an agent; did you mean gendry?' in broken.err
    assert "^^^^" in broken.err
    assert in_force(up) == ["arya is superior of gendry. Both may start."]


def test_without_a_hub_reload_takes_the_file_into_the_store(shell: Shell) -> None:
    shell.moot("agents", "list")
    write(shell, lambda text: text + LINKS)
    told = shell.moot("reload")
    assert (told.code, told.err) == (0, "")
    assert told.out == (
        "✓ moot.toml was read by the home; no hub is running\n"
        "  + link    arya is superior of gendry. Both may start.\n"
    )
    assert sentences(shell) == ["arya is superior of gendry. Both may start."]
    assert shell.moot("reload").out.splitlines()[1] == "  nothing changed"
    write(shell, lambda text: text.partition("[[links]]")[0])
    settled(shell)
    shell.moot("send", "quiet", "any command that writes does", "--no-wait")
    assert sentences(shell) == []


def test_an_agent_that_the_file_links_is_not_removed(shell: Shell) -> None:
    write(shell, lambda text: text + LINKS)
    refused = shell.moot("agents", "rm", "gendry", "--yes")
    line = (shell.home / "moot.toml").read_text().split("\n").index("[[links]]") + 1
    assert refused.err.startswith(f"error[E205] gendry is linked in moot.toml:{line}\n")
    assert shell.moot("reload").code == 0


def test_a_hub_whose_terminal_is_closed_ends_and_one_that_is_told_to_reload_does_not(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home")
    ours, theirs = pty.openpty()
    hub = subprocess.Popen(
        [sys.executable, "-c", IN_ITS_TERMINAL, MOOT, "up"], env=shell.environ({"NO_COLOR": "1"}),
        stdin=theirs, stdout=theirs, stderr=theirs,
    )  # fmt: skip
    os.close(theirs)
    try:
        seen = b""
        while b"Ctrl+C" not in seen:
            seen += os.read(ours, 4096)
        until((shell.home / "run" / "hub.json").exists, True)
        hub.send_signal(signal.SIGHUP)
        while b"moot.toml was read again" not in seen:
            seen += os.read(ours, 4096)
        assert hub.poll() is None
        os.close(ours)
        assert hub.wait(timeout=PATIENCE) in (0, 1), "what it says at the end has nowhere to go"
        assert not (shell.home / "run" / "hub.json").exists()
    finally:
        if hub.poll() is None:
            hub.kill()
        hub.wait()


LOOKS = (
    "links list", "links show arya,gendry", "links log arya,gendry", "topology show", "topology export -",
    "tasks list", "decisions list", "notes list", "limits show", "guard status", "audit log", "audit verify",
    "agents list", "agents show arya", "agents tree", "conv list", "conv show build", "conv config build",
    "tail", "inbox", "search hello", "people list", "tokens list arya", "group list --conv build",
)  # fmt: skip


def test_a_broken_file_is_shown_by_a_running_hub_and_hides_nothing(shell: Shell) -> None:
    """The last good settings are in force: what there is can be looked at under them."""
    shell.moot("links", "new", "arya", "gendry")
    shell.moot("conv", "new", "build", "--with", "arya")
    shell.moot("up", "--detach")
    try:
        (shell.home / "moot.toml").write_text("[hub\n")
        looked = {words: shell.moot(*words.split()) for words in LOOKS}
        assert {words: told.err for words, told in looked.items() if told.code} == {}
        assert looked["links list"].err.startswith("moot.toml:1:")
        assert "The hub goes on with what it read before." in looked["links list"].err
        told = shell.moot("status", "--json").json
        assert [row["what"] for row in told["needs_you"]] == ["broken"]
        assert told["needs_you"][0]["error"].startswith("moot.toml:1:")
        assert {agent["name"] for agent in told["agents"]} >= {"arya"}
        assert told["hub"] is not None
    finally:
        shell.moot("stop")
    assert shell.moot("status").err.startswith("error[E103]")


def test_reload_says_what_the_hub_has_applied_by_itself_and_when(up: Up) -> None:
    write(up.shell, lambda text: text + LINKS)
    until(lambda: in_force(up), ["arya is superior of gendry. Both may start."])
    told = up.shell.moot("reload").out.splitlines()
    assert re.fullmatch(r"  nothing changed since \d\d:\d\d, when the hub applied:", told[1])
    assert told[2] == "  + link    arya is superior of gendry. Both may start."
