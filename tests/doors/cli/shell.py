"""A home with a team in it, and `moot` typed in it: as a process of its own, or inside the test's.

Starting Python and importing a command takes longer than most commands do, and hundreds are typed here. So a process
is forked from one that has everything loaded: it has its own id, environment, folder and streams, and ends as any other
does. What depends on the start itself (how long it takes, what it imports, whose child it is, pipes that a daemon
might keep open) is for `Shell.fresh`.
"""

import json
import multiprocessing
import os
import pty
import select
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from multiprocessing.reduction import DupFd
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, TextIO

import pyte
from msgspec import Struct

from moot.cli import main
from tests.support.waiting import PATIENCE

MOOT = Path(sys.executable).with_name("moot")
NURSERY = multiprocessing.get_context("forkserver")
NURSERY.set_forkserver_preload(["tests.doors.cli.loaded"])
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    # A shell has it ignored by what it runs in the background, and every command that is started here inherits that.
    signal.signal(signal.SIGINT, signal.default_int_handler)

TEAM = """
import asyncio
from pathlib import Path


async def echo(turn):
    return f"{turn.agent} heard: {turn.text.replace('@', '')}"


async def caller(turn):
    return "@gendry, your part" if turn.must_answer else "[PASS]"


async def quiet(turn):
    return "[PASS]"


async def broken(turn):
    raise RuntimeError("it broke on purpose")


async def slow(turn):
    await asyncio.sleep(30)
    return "late"


async def steady(turn):
    while not Path(__file__).with_name("go").exists():
        await asyncio.sleep(0.05)
    return "finished in good order"


async def talker(turn):
    await turn.say("first words ")
    while not Path(__file__).with_name("go").exists():
        await asyncio.sleep(0.05)
    await turn.say("and the rest of it")
"""

COOL = "[groups]\ncooldown_seconds = 0\n"

AGENTS = {
    "arya": "echo",
    "gendry": "echo",
    "quiet": "quiet",
    "caller": "caller",
    "broken": "broken",
    "slow": "slow",
}


class Told(Struct, frozen=True):
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, Any]:
        [line] = self.err.splitlines()
        found: dict[str, Any] = json.loads(line)["error"]
        return found


class Shell:
    """A home, and the words typed in it."""

    def __init__(self, home: Path) -> None:
        self.home = home

    def moot(
        self,
        *words: str | bytes,
        stdin: bytes = b"",
        env: Mapping[str, str] | None = None,
        timeout: float = PATIENCE,
    ) -> Told:
        """As a process of its own that was loaded before."""
        with TemporaryFile() as given, TemporaryFile() as out, TemporaryFile() as err:
            given.write(stdin)
            given.seek(0)
            process = Forked(words, self.environ(env), given.fileno(), out.fileno(), err.fileno())
            try:
                code = process.wait(timeout)
            except subprocess.TimeoutExpired:
                process.kill()
                raise
            out.seek(0)
            err.seek(0)
            return Told(code, out.read().decode(), err.read().decode())

    def fresh(
        self,
        *words: str | bytes,
        stdin: bytes | None = None,
        env: Mapping[str, str] | None = None,
        timeout: float = PATIENCE,
    ) -> Told:
        """As a child of this process that starts from nothing, as a person's shell would start it."""
        done = subprocess.run(
            [MOOT, *words],
            input=b"" if stdin is None else stdin,
            capture_output=True,
            env=self.environ(env),
            timeout=timeout,
            check=False,
        )
        return Told(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(self, *words: str) -> "Forked":
        """As `moot` does, and not waited for; what it says can be read."""
        (out, said), (err, complained) = os.pipe(), os.pipe()
        with open(os.devnull, "rb") as nothing:
            process = Forked(words, self.environ(), nothing.fileno(), said, complained)
        os.close(said)
        os.close(complained)
        process.stdout, process.stderr = (open(end, encoding="utf-8") for end in (out, err))  # noqa: SIM115
        return process

    def environ(self, more: Mapping[str, str] | None = None) -> dict[str, str]:
        kept = {
            key: value
            for key, value in os.environ.items()
            if not key.startswith("MOOT_")
            and not key.endswith("_API_KEY")  # no provider is asked by accident
            and key not in ("COLUMNS", "LINES")  # whoever runs the tests may have said how wide it is
        }
        kept["MOOT_HUB__PORT"] = "0"  # hubs of several tests run at once
        plain = {key: value for key, value in kept.items() if key not in ("NO_COLOR", "FORCE_COLOR")}
        return {**plain, "MOOT_HOME": str(self.home), "TZ": "UTC", **(more or {})}


class Forked:
    """A command in a process of its own that was loaded before, with what tests use of `subprocess.Popen`."""

    stdout: TextIO
    stderr: TextIO
    """Of one that was started to be read."""

    def __init__(self, words: Sequence[str | bytes], environ: Mapping[str, str], *streams: int) -> None:
        self.args = [str(MOOT), *map(os.fsdecode, words)]
        given = [DupFd(stream) for stream in streams]
        self._process = NURSERY.Process(target=become, args=(self.args, environ, Path.cwd(), given))
        self._process.start()
        self.pid = self._process.pid or 0

    @property
    def returncode(self) -> int:
        """Of one that has ended."""
        code = self.poll()
        assert code is not None, "it still runs"
        return code

    def poll(self) -> int | None:
        return self._process.exitcode

    def wait(self, timeout: float | None = None) -> int:
        self._process.join(timeout)
        code = self.poll()
        if code is None:
            raise subprocess.TimeoutExpired(self.args, timeout or 0.0)
        return code

    def communicate(self, timeout: float | None = None) -> tuple[str, str]:
        """The rest of what it says until it ends; nothing where that was asked for before."""
        if self.stdout.closed:
            return "", ""
        with ThreadPoolExecutor(2) as readers, self.stdout, self.stderr:
            out, err = readers.submit(self.stdout.read), readers.submit(self.stderr.read)
            try:
                self.wait(timeout)
            except subprocess.TimeoutExpired:
                self.kill()
                raise
            return out.result(), err.result()

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


def become(words: list[str], environ: Mapping[str, str], folder: Path, streams: list[Any]) -> None:
    """In the forked process: go on as the command that was typed."""
    for number, stream in enumerate(streams):
        os.dup2(stream.detach(), number)
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        before = getattr(sys, name) if number else sys.stdout
        stream = open(  # noqa: SIM115
            number,
            mode,
            encoding=before.encoding,
            errors=before.errors,
            closefd=False,
            buffering=1 if name == "stderr" or os.isatty(number) else -1,
        )
        setattr(sys, name, stream)
        setattr(sys, f"__{name}__", stream)
    os.environ.clear()
    os.environ.update(environ)
    os.chdir(folder)
    time.tzset()
    sys.argv = words
    main()


def make_home(path: Path, agents: Mapping[str, str] = AGENTS, more: str = "") -> Shell:
    path.mkdir(mode=0o700, exist_ok=True)
    rows = [
        f'[[agents]]\nname = "{name}"\nbrain = "code:cli_team:{brain}"\n' for name, brain in agents.items()
    ]
    (path / "cli_team.py").write_text(TEAM, encoding="utf-8")
    (path / "moot.toml").write_text("\n".join([COOL, more, *rows]), encoding="utf-8")
    return Shell(path)


def until(holds: Callable[[], object]) -> None:
    """Look again and again until it is so."""
    end = time.monotonic() + PATIENCE
    while not holds():
        assert time.monotonic() < end, "it never came to that"
        time.sleep(0.05)


class Terminal:
    """A pseudo-terminal with `moot` in it."""

    def __init__(
        self,
        shell: Shell,
        *words: str,
        env: Mapping[str, str] | None = None,
        size: tuple[int, int] | None = None,
        fresh: bool = False,
    ) -> None:
        """`size` in rows and columns; a terminal that does not know its own gets the chat in lines. `fresh` starts it
        from nothing."""
        self._ours, theirs = pty.openpty()
        if size is not None:
            termios.tcsetwinsize(theirs, size)
        env = shell.environ({"NO_COLOR": "1", "TERM": "xterm", **(env or {})})
        self.process = (
            subprocess.Popen([MOOT, *words], stdin=theirs, stdout=theirs, stderr=theirs, env=env)
            if fresh
            else Forked(words, env, theirs, theirs, theirs)
        )
        os.close(theirs)
        self.seen = ""
        self._data = b""
        self._read_to = 0

    def type(self, line: str) -> None:
        self.press(f"{line}\n")

    def press(self, keys: str) -> None:
        os.write(self._ours, keys.encode())

    def resize(self, columns: int) -> None:
        """As a terminal does: the size is another, and who draws is told so."""
        termios.tcsetwinsize(self._ours, (24, columns))
        self.process.send_signal(signal.SIGWINCH)

    @property
    def modes(self) -> list[Any]:
        """How the terminal treats what is typed."""
        return termios.tcgetattr(self._ours)

    def drawn(self) -> list[str]:
        """What a person sees of it: the lines that are not empty."""
        screen = pyte.HistoryScreen(80, 24, history=500)
        pyte.Stream(screen).feed(self.seen)
        above = ["".join(row[column].data for column in range(80)) for row in screen.history.top]
        return [line.rstrip() for line in (*above, *screen.display) if line.strip()]

    def read_until_drawn(self, *rows: str, seconds: float = PATIENCE) -> None:
        """Until these are the last rows that a person sees."""
        until = time.monotonic() + seconds
        while self.drawn()[-len(rows) :] != list(rows):
            ready, _, _ = select.select([self._ours], [], [], max(0, until - time.monotonic()))
            assert ready, f"{rows} are not drawn; seen: {chr(10).join(self.drawn())}"
            self._take()
        self._read_to = len(self.seen)

    def _take(self) -> None:
        self._data += os.read(self._ours, 65536)
        self.seen = self._data.decode(errors="ignore")

    def read_until(self, text: str, seconds: float = PATIENCE) -> None:
        until = time.monotonic() + seconds
        while (found := self.seen.find(text, self._read_to)) < 0:
            ready, _, _ = select.select([self._ours], [], [], max(0, until - time.monotonic()))
            assert ready, f"{text!r} did not come; seen: {self.seen}"
            self._take()
        self._read_to = found + len(text)

    def rest(self) -> str:
        """Everything that was said, once it is over."""
        with suppress(OSError):  # the terminal's other end is closed
            while True:
                self._take()
        self.process.wait(timeout=PATIENCE)
        return self.seen

    def close(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        os.close(self._ours)
