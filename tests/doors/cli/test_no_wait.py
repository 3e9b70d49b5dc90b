"""`moot send --no-wait` to a running hub: it takes the short way in, and says what the long one says."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, BinaryIO

import pytest

import moot.cli
from moot.cli import app
from moot.cli.frame.session import Session
from moot.cli.talk import no_wait
from moot.cli.talk import send as long_way
from moot.cli.talk.follow import Outcome
from moot.client.transport.blocking_socket import BlockingConnection
from moot.errors import BadText, HubAbsent, NotFound
from moot.sdk import CALLS
from moot.settings import find_home
from tests.doors.cli.shell import MOOT, Forked, Shell, Told, make_home

TEAM = {"arya": "echo", "gendry": "echo"}
MORE = """
[limits]
message_bytes = 2000
[[agents]]
name = "ann"
brain = "external"
[[agents]]
name = "late"
brain = "code:cli_team:echo"
autostart = false
"""
ANYWHERE = re.compile(
    r"c1[a-z0-9]{13}|send-([\w-]+)-[0-9a-f]{8}|(?<=:)\d+|(?<=\"seq\": )\d+|\d+(?= messages wait)"
)


@pytest.fixture(scope="module")
def shell() -> Iterator[Shell]:
    """A home with a hub on it, the same for all that is asked here."""
    with TemporaryDirectory() as folder:
        shell = make_home(Path(folder) / "home", TEAM, MORE)
        with running(shell):
            for words in (
                ("agents", "new", "gone", "--brain", "external"),
                ("conv", "new", "room", "--with", "arya,gendry"),
                ("conv", "new", "all", "--with", "arya,late"),
                ("conv", "new", "theirs", "--with", "ann,gone"),
                ("conv", "new", "notes", "--with", "arya"),
                ("conv", "config", "notes", "reply_strategy", "mention_only"),
                ("conv", "new", "old", "--with", "arya"),
                ("conv", "archive", "old"),
                ("agents", "rm", "gone", "--yes"),
            ):
                assert (told := shell.moot(*words)).code == 0, told
            with line_to(shell) as line:
                line.call("agents.arrive", door="mcp", client="codex", folder="/srv/api")
                for text in ("one", "two"):
                    line.call("send", target="codex-api", text=text)
            yield shell


@contextmanager
def running(shell: Shell) -> Iterator[Forked]:
    process = shell.start("up", "--json")
    try:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["pid"] == process.pid
        yield process
    finally:
        process.kill()
        process.communicate()


@contextmanager
def line_to(shell: Shell) -> Iterator[BlockingConnection]:
    line = BlockingConnection.find(str(shell.home / "run" / "hub.sock"))
    assert line is not None
    try:
        yield line
    finally:
        line.close()


Way = Callable[..., Told]
Ways = Callable[..., tuple[Told, Told]]


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[bool]:
    """Each run of the whole command line: whether the message was posted before."""
    seen: list[bool] = []
    whole = app.run

    def run(arguments: list[str], posted: no_wait.StoredPost | None = None) -> int:
        seen.append(posted is not None)
        return whole(arguments, posted)

    monkeypatch.setattr(app, "run", run)
    return seen


@pytest.fixture
def typed(
    shell: Shell, runs: list[bool], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Way:
    """A command inside this process: from where all begin, or the `long` way at once."""
    for name in ("NO_COLOR", "FORCE_COLOR", "MOOT_ASCII"):
        monkeypatch.delenv(name, raising=False)

    def told(*words: str, long: bool, home: Path = shell.home) -> Told:
        monkeypatch.setenv("MOOT_HOME", str(home))
        monkeypatch.setattr(sys, "argv", ["moot", *words])
        capsys.readouterr()
        runs.clear()
        if long:
            code = app.run(list(words))
        else:
            with pytest.raises(SystemExit) as left:
                moot.cli.main()
            code = int(str(left.value.code))
        seen = capsys.readouterr()
        return Told(code, seen.out, seen.err)

    return told


@pytest.fixture
def both(typed: Way) -> Ways:
    """The same words, the long way and the short way."""
    return lambda *words: (typed(*words, long=True), typed(*words, long=False))


def alike(told: Told) -> tuple[int, str, str]:
    """Without what is another one each time."""
    return told.code, ANYWHERE.sub(r"\1#", told.out), ANYWHERE.sub(r"\1#", told.err)


ALONE: list[bool] = []
EXPLAINED, LEFT = [True], [False]
CASES: dict[str, tuple[tuple[str, ...], int, list[bool]]] = {
    "present": (("arya", "hello"), 0, ALONE),
    "present, quiet": (("arya", "hello", "-q"), 0, ALONE),
    "present, with its mark": (("@arya", "hello", "there"), 0, ALONE),
    "present, JSON": (("arya", "hello", "--json"), 0, ALONE),
    "present, as oneself": (("--as", "user", "arya", "hello"), 0, ALONE),
    "present, with limits": (("arya", "hello", "--interrupt", "--max-turns", "2"), 0, ALONE),
    "in a conversation": (("--conv", "room", "@arya", "hello"), 0, ALONE),
    "in a conversation by its mark": (("--conv=#room", "@arya hello"), 0, ALONE),
    "not started": (("late", "hello"), 0, EXPLAINED),
    "not started, JSON": (("late", "hello", "--json"), 0, EXPLAINED),
    "one of two not started": (("--conv", "all", "@arya and @late"), 0, EXPLAINED),
    "named, and joins by that": (("arya", "ask @gendry"), 0, EXPLAINED),
    "named, and joins by that, JSON": (("arya", "ask @gendry", "--json"), 0, EXPLAINED),
    "two join": (("ann", "ask @gendry and @late"), 0, EXPLAINED),
    "stops whoever speaks": (("--conv", "room", "@arya", "--interrupt"), 0, LEFT),
    "away": (("ann", "hello"), 0, ALONE),
    "away, JSON": (("ann", "hello", "--json"), 0, ALONE),
    "away, told as oneself": (("ann", "hello", "--as", "user"), 0, ALONE),
    "away, after it came by a client": (("codex-api", "hello"), 0, EXPLAINED),
    "away, all of them": (("--conv", "theirs", "any thoughts?"), 1, EXPLAINED),
    "away, all of them, JSON": (("--conv", "theirs", "any thoughts?", "--json"), 1, EXPLAINED),
    "removed": (("gone", "hello"), 3, LEFT),
    "blocked by the cap": (("--conv", "room", "@arya @gendry", "--max-turns", "1"), 0, EXPLAINED),
    "unknown names in the text": (("--conv", "room", "@arya, ask @nobodyatall"), 0, EXPLAINED),
    "nobody asked": (("--conv", "notes", "a note"), 0, EXPLAINED),
    "unknown agent": (("nobody", "hello"), 3, LEFT),
    "unknown agent, JSON": (("nobody", "hello", "--json"), 3, LEFT),
    "nearly a name": (("aryo", "hello"), 3, LEFT),
    "the beginning of an id": (("gen", "hello"), 0, LEFT),
    "unknown conversation": (("--conv", "nowhere", "hello"), 3, LEFT),
    "unknown speaker": (("--as", "nobody", "arya", "hello"), 3, LEFT),
    "archived": (("--conv", "old", "hello"), 5, LEFT),
    "too long": (("arya", "x" * 3000), 2, ALONE),
    "too long, JSON": (("arya", "x" * 3000, "--json"), 2, ALONE),
    "no text": (("arya",), 2, LEFT),
    "a value out of bounds": (("arya", "hello", "--max-turns", "0"), 2, LEFT),
    "waiting and not waiting": (("arya", "hello", "--wait"), 2, LEFT),
}


@pytest.mark.parametrize(("words", "code", "ran"), CASES.values(), ids=CASES.keys())
def test_both_ways_say_the_same(
    both: Ways, runs: list[bool], words: tuple[str, ...], code: int, ran: list[bool]
) -> None:
    long, short = both("send", *words, "--no-wait")
    assert alike(short) == alike(long)
    assert (short.code, runs) == (code, ran), short


def test_a_broken_settings_file_is_told_where_it_is_needed(
    shell: Shell, both: Ways, runs: list[bool]
) -> None:
    file = shell.home / "moot.toml"
    before = file.read_text(encoding="utf-8")
    file.write_text('[groups]\nreply_strategy = "loud"\n', encoding="utf-8")
    try:
        long, short = both("send", "arya", "hello", "--no-wait")
        assert alike(short) == alike(long)
        assert (short.code, runs) == (0, ALONE)
        long, short = both("send", "ann", "hello", "--no-wait")
        assert alike(short) == alike(long)
        assert (short.code, runs) == (0, ALONE)
        long, short = both("send", "late", "hello", "--no-wait")
        assert alike(short) == alike(long)
        assert (short.code, runs) == (2, EXPLAINED)
        assert short.err.startswith("error[E103] moot.toml:2:")
    finally:
        file.write_text(before, encoding="utf-8")


def test_a_repeated_key_stores_nothing_twice_whichever_way_it_comes(both: Ways, runs: list[bool]) -> None:
    words = ("send", "arya", "once", "--no-wait", "--json", "--idempotency-key")
    long, short = both(*words, "k1")
    assert short.json["receipt"]["id"] == long.json["receipt"]["id"]
    assert (short.code, short.json["receipt"]["replayed"], runs) == (0, True, EXPLAINED)
    assert alike(both(*words, "k1")[0]) == alike(short)


def test_a_new_key_takes_the_short_way(shell: Shell) -> None:
    words = ("send", "arya", "first", "--no-wait", "--json", "--idempotency-key", "k2")
    first, again = shell.moot(*words), shell.moot(*words)
    assert [told.json["receipt"]["replayed"] for told in (first, again)] == [False, True]
    assert first.json["receipt"]["id"] == again.json["receipt"]["id"]


def test_an_agent_is_spoken_for_in_the_conversation_of_the_pair(shell: Shell) -> None:
    told = shell.moot("send", "--as", "arya", "gendry", "from me", "--no-wait", "--json").json
    assert told["receipt"]["from"] == "arya"
    assert shell.moot("conv", "show", told["receipt"]["conversation"], "--json").json["kind"] == "direct"


def test_a_conversation_in_which_nobody_will_answer_is_put_away(shell: Shell) -> None:
    assert shell.moot("agents", "new", "brief", "--brain", "external").code == 0
    there = shell.moot("send", "brief", "hello", "--no-wait", "--json").json["receipt"]["conversation"]
    assert shell.moot("agents", "rm", "brief", "--yes").code == 0
    told = shell.moot("send", "--conv", there, "hello?", "--no-wait")
    assert (told.code, told.out) == (1, ""), told
    assert told.err.endswith("no answer: brief was removed and no longer answers\n")
    assert there in {row["id"] for row in shell.moot("conv", "list", "--archived", "--json").json}


@pytest.mark.parametrize("where", ["full", "gone"])
def test_an_answer_that_cannot_be_written_is_told_the_same_both_ways(shell: Shell, where: str) -> None:
    told: list[tuple[int, str]] = []
    for words in (("arya", "-m", "hello"), ("arya", "hello")):
        reader, writer = os.pipe()
        os.close(reader)
        with open("/dev/full", "wb") as full, os.fdopen(writer, "wb") as gone:
            done = subprocess.run(
                [MOOT, "send", *words, "--no-wait"],
                stdin=subprocess.DEVNULL,
                stdout=full if where == "full" else gone,
                stderr=subprocess.PIPE,
                env=shell.environ(),
                check=False,
                text=True,
            )
        told.append((done.returncode, done.stderr.replace(" -m ", " ")))
    assert told[0] == told[1]
    assert told[0][0] == 1
    assert "Traceback" not in told[0][1]


# --- the words ---------------------------------------------------------------------------------------------


WORDS = [
    ["send", "arya", "hello", "--no-wait"],
    ["--home", "/h", "send", "--no-wait", "arya", "two", "words"],
    ["send", "--no-wait", "arya", "hello", "--home=/h", "--json"],
    ["-q", "--no-color", "--json", "send", "@arya", "hello", "--no-wait", "--plain"],
    ["send", "--conv", "build", "all", "of it", "--no-wait"],
    ["send", "--conv=#build", "text = x", "--no-wait", "--max-turns", "3"],
    ["send", "arya", "hello", "--no-wait", "--interrupt"],
    ["send", "arya", "hello", "--no-wait", "--as", "gendry", "--idempotency-key", "a=b"],
    ["send", "--no-wait", "--no-wait", "arya", "send", "--json", "--json"],
]
CLICK_ONLY = [
    ["send", "arya", "hello"],
    ["send", "arya", "--no-wait"],
    ["send", "arya", "", "--no-wait"],
    ["send", "--no-wait"],
    ["send", "arya", "--no-wait", "--", "--json"],
    ["send", "arya", "hello", "--no-wait", "-"],
    ["send", "arya", "hello", "--no-wait", "-m", "more"],
    ["send", "arya", "hello", "--no-wait", "--file", "x"],
    ["send", "arya", "hello", "--no-wait", "--wait"],
    ["send", "arya", "hello", "--no-wait", "--debug"],
    ["send", "arya", "hello", "--no-wait", "--json", "--fields", "outcome"],
    ["send", "--all", "hello", "--no-wait"],
    ["send", "--reply-to", "build:1", "hello", "--no-wait"],
    ["send", "--conv", "build", "hello", "--no-wait", "--interrupt"],
    ["send", "arya", "hello", "--as", "gendry", "--no-wait", "--interrupt"],
    ["send", "arya", "hello", "--no-wait", "--as"],
    ["send", "arya", "hello", "--no-wait", "--as", "--json"],
    ["send", "arya", "hello", "--no-wait", "--as", "a", "--as", "b"],
    ["send", "arya", "hello", "--no-wait", "--max-turns", "0"],
    ["send", "arya", "hello", "--no-wait", "--max-turns", "²"],
    ["send", "arya", "hello", "--no-wait", "--json=yes"],
    ["send", "arya", "hello", "--no-wai", "--no-wait"],
    ["send", "arya", "hello \udce9", "--no-wait"],
    ["send", "@", "hello", "--no-wait"],
    ["--no-wait", "send", "arya", "hello"],
    ["--conv", "build", "send", "hello", "--no-wait"],
    ["chat", "arya", "--no-wait"],
    ["ask", "send", "hello", "--no-wait"],
    [],
]


@pytest.mark.parametrize("arguments", WORDS, ids=" ".join)
def test_words_mean_what_click_takes_them_for(arguments: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    taken: list[no_wait.SendRequest] = []

    async def sending(session: Session, order: long_way.SendOptions, agent: str, text: str) -> Outcome:
        assert (order.patience, order.everyone, order.require) == (None, False, "queued")
        taken.append(
            no_wait.SendRequest(
                text,
                agent.lstrip("@"),
                (order.conv or "").lstrip("#"),
                order.speaker or "",
                order.idempotency_key,
                order.interrupt,
                order.max_turns,
                session.home_option or "",
                session.json,
            )
        )
        raise HubAbsent("enough")

    monkeypatch.setattr(long_way, "sending", sending)
    app.run(arguments)
    assert [no_wait.read(arguments)] == taken


@pytest.mark.parametrize("arguments", CLICK_ONLY, ids=" ".join)
def test_what_only_click_can_say_is_left_to_it(arguments: list[str]) -> None:
    assert no_wait.read(arguments) is None


@pytest.mark.parametrize(
    ("option", "environ"),
    [
        ("/a/b", {}),
        ("a", {"MOOT_HOME": "/c"}),
        ("", {"MOOT_HOME": "/c"}),
        ("", {"HOME": "/root"}),
        ("~/x", {"HOME": "/root"}),
        ("~", {"HOME": "/root"}),
    ],
)
def test_the_home_is_the_one_that_every_command_finds(option: str, environ: dict[str, str]) -> None:
    assert Path(no_wait.home(option, environ)).absolute() == find_home(option or None, environ)


@pytest.mark.parametrize(
    ("option", "environ"), [("~ann/x", {}), ("~/x", {}), (" ", {}), ("a\0b", {}), ("", {})]
)
def test_a_home_that_has_to_be_looked_for_is_left_to_the_others(option: str, environ: dict[str, str]) -> None:
    assert no_wait.home(option, environ) == ""


@pytest.mark.parametrize(
    ("streams", "is_short"),
    [
        ("</dev/null", True),
        ("<&-", True),
        ("< <(true)", True),
        ("< <(sleep 30)", False),
        ("< <(echo more)", False),
        ("</dev/zero", False),
        ("</etc/hostname", False),
    ],
)
def test_standard_input_that_may_hold_something_is_left_to_the_others(streams: str, is_short: bool) -> None:
    """A pipe is looked at once its other end is closed, or has written, or was let be."""
    script = (
        "import os, select, sys; from moot.cli.frame import streams; from moot.cli.talk import no_wait;"
        "streams.prepare();"
        "'more' in sys.argv[1] and select.select([0], [], []);"
        "'true' in sys.argv[1] and select.select([0], [], []);"
        "sys.exit(10 + no_wait.is_nothing_piped())"
    )
    done = subprocess.run(
        ["bash", "-c", f'exec "$0" -c "$1" "$2" {streams}', sys.executable, script, streams], check=False
    )
    assert done.returncode - 10 == is_short


# --- the line ----------------------------------------------------------------------------------------------


def test_the_line_that_blocks_raises_what_the_hub_raised(shell: Shell) -> None:
    with line_to(shell) as line:
        assert line.name == "user"
        with pytest.raises(NotFound) as missing:
            line.call("agents.get", name="nobody")
        assert missing.value.facts["ref"] == "nobody"
        with pytest.raises(BadText):
            line.call("post", conversation="room", text="x" * 3000)
        assert line.call("agents.get", name="arya")["name"] == "arya"


def test_a_socket_that_lies_deep_is_reached(shell: Shell, tmp_path: Path) -> None:
    deep = tmp_path / ("d" * 120)
    deep.mkdir()
    (deep / "run").symlink_to(shell.home / "run")
    assert shell.moot("--home", str(deep), "send", "arya", "hello", "--no-wait").code == 0
    line = BlockingConnection.find(str(deep / "run" / "hub.sock"))
    assert line is not None
    line.close()


@pytest.mark.parametrize("greeting", [b"", b"{}\n", b"no JSON\n", b'{"hello": 1}\n', b"[1]\n"])
def test_who_does_not_greet_like_a_hub_is_none(tmp_path: Path, greeting: bytes) -> None:
    path = str(tmp_path / "s")
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(path)
        door.listen()

        def greet() -> None:
            guest, _ = door.accept()
            with guest:
                guest.sendall(greeting)

        host = threading.Thread(target=greet)
        host.start()
        assert BlockingConnection.find(path) is None
        host.join()
    assert BlockingConnection.find(str(tmp_path / "nobody")) is None


def test_its_calls_are_declared_ones(shell: Shell, monkeypatch: pytest.MonkeyPatch) -> None:
    made: set[str] = set()
    call = BlockingConnection.call

    def declared(self: BlockingConnection, method: str, speaker: str | None = None, /, **named: Any) -> Any:
        CALLS[method].signature.bind(**named)
        made.add(method)
        return call(self, method, speaker, **named)

    monkeypatch.setattr(BlockingConnection, "call", declared)
    monkeypatch.setenv("MOOT_HOME", str(shell.home))
    for words in (
        ("gendry", "hello"),
        ("gendry", "hello", "--idempotency-key", "k3"),
        ("gendry", "hello", "--idempotency-key", "k3"),
        ("gendry", "hello", "--as", "arya"),
        ("ann", "hello"),
        ("--conv", "room", "@arya hello"),
    ):
        assert no_wait.send(["send", *words, "--no-wait"]) == 0
    assert made == {
        "agents.arrivals",
        "agents.get",
        "conversations.ephemeral",
        "conversations.get",
        "conversations.implicit",
        "post",
    }


# --- a hub that dies ---------------------------------------------------------------------------------------


@contextmanager
def dying(home: Path, real: Path, *, method: str, answered: bool) -> Iterator[None]:
    """A hub that dies with the first call of a method, `answered` or not: a door of its own before the real one."""
    (home / "run").mkdir(parents=True)
    path = home / "run" / "hub.sock"
    with socket.socket(socket.AF_UNIX) as door:
        door.bind(str(path))
        door.listen()

        def serve() -> None:
            guest, _ = door.accept()
            path.unlink()
            with guest, guest.makefile("rb") as said, socket.socket(socket.AF_UNIX) as hub:
                hub.connect(str(real))
                with hub.makefile("rb") as answers:
                    _pass_on(said, guest, answers, hub, method=method, answered=answered)

        host = threading.Thread(target=serve)
        host.start()
        try:
            yield
        finally:
            host.join()


def _pass_on(
    said: BinaryIO,
    guest: socket.socket,
    answers: BinaryIO,
    hub: socket.socket,
    *,
    method: str,
    answered: bool,
) -> None:
    for line in said:
        told = json.loads(line)
        is_last = told.get("do") == method
        if is_last and not answered:
            return
        hub.sendall(line)
        while "call" in told or "hello" in told:
            heard = answers.readline()
            guest.sendall(heard)
            if "event" not in json.loads(heard):
                break
        if is_last:
            return


@pytest.mark.parametrize("as_json", [(), ("--json",)])
@pytest.mark.parametrize(
    ("agent", "method", "answered"),
    [
        ("arya", "post", False),
        ("arya", "conversations.ephemeral", False),
        ("ann", "post", True),
        ("late", "post", True),
    ],
)
def test_a_hub_that_dies_in_between_is_told_the_same_both_ways(
    shell: Shell,
    typed: Way,
    tmp_path: Path,
    *,
    agent: str,
    method: str,
    answered: bool,
    as_json: tuple[str, ...],
) -> None:
    real, told = shell.home / "run" / "hub.sock", []
    for long in (True, False):
        home = tmp_path / ("long" if long else "short")
        with dying(home, real, method=method, answered=answered):
            told.append(typed("send", agent, "hello", "--no-wait", *as_json, long=long, home=home))
        assert not (home / "moot.db").exists(), "no hub of its own took the message once more"
    assert alike(told[0]) == alike(told[1])
    assert told[0].code == 9
