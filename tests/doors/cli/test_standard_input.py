"""What is piped into send, ask and chat: it stands behind the text, and nothing that is not meant is waited for."""

import io
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Timer
from typing import BinaryIO

import pytest

from moot.cli.terminal import standard_input
from tests.doors.cli.shell import MOOT, Shell, Told
from tests.support.waiting import PATIENCE

Moot = Callable[..., Told]
FIX = "end the text with - to wait for it, or add </dev/null to skip it"


@pytest.fixture
def pipe(monkeypatch: pytest.MonkeyPatch) -> Iterator[BinaryIO]:
    """The other end of this process's standard input; nothing is in it yet."""
    ours, theirs = os.pipe()
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(open(ours, "rb")))  # noqa: SIM115  closed with the wrapper
    with open(theirs, "wb", buffering=0) as writer:
        yield writer
    sys.stdin.close()


def said(moot: Moot) -> list[str]:
    return [m["text"] for m in moot("tail", "--json").json if m["kind"] == "human"]


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("send", "arya", "summarise", "this"), "summarise this\n\none\ntwo"),
        (("send", "arya", "-m", "summarise this"), "summarise this\n\none\ntwo"),
        (("send", "--conv", "work", "@arya look"), "@arya look\n\none\ntwo"),
        (("send", "arya"), "one\ntwo"),
        (("ask", "arya", "summarise this"), "summarise this\n\none\ntwo"),
        (("ask", "arya", "gendry", "--", "summarise", "this"), "summarise this\n\none\ntwo"),
        (("chat", "arya", "-m", "summarise this"), "summarise this\n\none\ntwo"),
        (("chat", "--conv", "work", "summarise", "this"), "summarise this\n\none\ntwo"),
        (("send", "arya", "summarise", "this", "-"), "summarise this\n\none\ntwo\n"),
        (("chat", "--conv", "work", "summarise this", "-"), "summarise this\n\none\ntwo\n"),
        (("send", "arya", "-"), "one\ntwo\n"),
        (("chat", "arya", "-m", "-"), "one\ntwo\n"),
    ],
)
def test_what_is_piped_stands_behind_the_text(
    shell: Shell, moot: Moot, words: tuple[str, ...], text: str
) -> None:
    moot("conv", "new", "work", "--with", "arya")
    told = shell.moot(*words, stdin=b"one\ntwo\n")
    assert told.code == 0, told.err
    assert said(moot) == [text]


def test_a_real_pipe_is_read_to_its_end_and_a_file_of_its_own_stands_between(
    shell: Shell, moot: Moot, tmp_path: Path
) -> None:
    (tmp_path / "letter").write_text("from the file")
    words = ("send", "arya", "look:", "--file", str(tmp_path / "letter"))
    assert shell.fresh(*words, stdin=b"x" * 200_000).code == 0
    assert said(moot) == ["look:\n\nfrom the file\n\n" + "x" * 200_000]


@pytest.mark.parametrize("nothing", [b"", b"\n", b" \n\n"])
def test_an_empty_pipe_adds_nothing(shell: Shell, moot: Moot, nothing: bytes) -> None:
    assert shell.moot("send", "arya", "hello", stdin=nothing).code == 0
    assert said(moot) == ["hello"]


def test_an_open_pipe_with_nothing_in_it_holds_nothing_up(
    moot: Moot, pipe: BinaryIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(standard_input, "PATIENCE_SECONDS", 0.05)
    told = moot("send", "arya", "hello")
    assert told.code == 0
    assert told.err.startswith("standard input is open, but nothing arrived for 0.05 s")
    assert FIX in told.err
    assert said(moot) == ["hello"]
    missing = moot("send", "arya")
    assert missing.code == 2
    assert "no text given" in missing.err


def test_what_is_late_by_a_moment_is_not_lost(
    moot: Moot, pipe: BinaryIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert standard_input.PATIENCE_SECONDS >= 1
    monkeypatch.setattr(standard_input, "PATIENCE_SECONDS", PATIENCE)

    def write_late() -> None:
        pipe.write(b"late\n")
        pipe.close()

    writer = Timer(0.3, write_late)
    writer.start()
    assert moot("send", "arya", "summarise").code == 0
    writer.join()
    assert said(moot) == ["summarise\n\nlate"]


@pytest.mark.parametrize("closed", ["</dev/null", "<&-"])
def test_what_can_give_nothing_is_not_waited_for(shell: Shell, moot: Moot, closed: str) -> None:
    """Who waits for it in vain says so."""
    command = f"{MOOT} send arya hello --no-wait {closed}"
    done = subprocess.run(
        ["sh", "-c", command], env=shell.environ(), timeout=PATIENCE, capture_output=True, check=True
    )
    assert done.stderr.startswith(b"arya is away"), "and nothing else"
    assert b"standard input" not in done.stderr
    assert said(moot) == ["hello"]


@pytest.mark.parametrize("closed", [">&-", "2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize(
    "words", ["send arya hello --no-wait", "send nobody hello", "agents list", "--version", "-h"]
)
def test_closed_output_is_for_nobody_and_changes_no_exit_code(shell: Shell, words: str, closed: str) -> None:
    def run(redirected: str) -> subprocess.CompletedProcess[bytes]:
        command = ["sh", "-c", f"{MOOT} {words} </dev/null {redirected}"]
        return subprocess.run(
            command, env=shell.environ(), timeout=PATIENCE, capture_output=True, check=False
        )

    open_, done = run(""), run(closed)
    assert done.returncode == open_.returncode
    assert b"Traceback" not in done.stderr
    assert done.stderr in (b"", open_.stderr)


def test_a_loop_keeps_the_lines_it_reads(shell: Shell, moot: Moot, tmp_path: Path) -> None:
    (tmp_path / "lines").write_text("one\ntwo\nthree\n")
    loop = f'while read line; do {MOOT} send arya "$line" --no-wait; done <{tmp_path / "lines"}'
    subprocess.run(["sh", "-c", loop], env=shell.environ(), check=True, timeout=60, capture_output=True)
    assert sorted(said(moot)) == ["one", "three", "two"]


@pytest.mark.parametrize("words", [("look",), ("look", "-"), ("-",)])
def test_what_is_too_long_is_refused_before_it_is_read_to_its_end(
    shell: Shell, moot: Moot, words: tuple[str, ...]
) -> None:
    long = f"yes | head -c 50000000 | {MOOT} send arya {' '.join(words)} --json"
    done = subprocess.run(
        ["sh", "-c", long], env=shell.environ(), timeout=PATIENCE, capture_output=True, check=False
    )
    refused = Told(done.returncode, done.stdout.decode(), done.stderr.decode())
    assert (refused.code, refused.out) == (2, "")
    assert (refused.error["code"], refused.error["problem"]) == ("E203", "too_long")
    assert refused.error["detail"].startswith("expected at most 262144 bytes")
    assert refused.error["detail"].endswith("standard input has more")
    big = shell.home / "big"
    big.write_bytes(b"x" * 300_000)
    assert moot("send", "arya", "--file", str(big)).code == 2
    assert said(moot) == []


# --- commands in a text for one shot ---------------------------------------------------------------------


@pytest.mark.req("G-12")
@pytest.mark.parametrize("words", [("arya", "/x"), ("arya", "-m", "/x now"), ("--conv", "work", "/x", "now")])
def test_an_unknown_command_is_refused_in_one_shot_too(moot: Moot, words: tuple[str, ...]) -> None:
    moot("conv", "new", "work", "--with", "arya")
    told = moot("chat", *words)
    assert told.code == 2
    assert told.err.startswith("error[E204] unknown command /x; nothing was sent\n")
    assert said(moot) == []
    literal = [word.replace("/x", "//x") for word in words]
    assert moot("chat", *literal).code == 0
    assert said(moot) == [" ".join(words).partition("/")[1] + " ".join(words).partition("/")[2]]


@pytest.mark.req("G-12")
def test_a_known_command_is_carried_out_and_a_piped_one_is_only_text(shell: Shell, moot: Moot) -> None:
    assert "arya, " in moot("chat", "arya", "/agents").out
    assert "/why [N]" in moot("chat", "arya", "/").out
    assert "arya heard: ready?" in moot("chat", "arya", "gendry", "/ask arya -- ready?").out
    assert moot("chat", "arya", "/agents", "--json").error["code"] == "E204"
    before = len(said(moot))
    assert shell.moot("chat", "arya", "-m", "-", stdin=b"/agents").code == 0
    assert said(moot)[before:] == ["/agents"]
