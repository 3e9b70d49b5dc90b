"""Record `moot demo` as a person would see it, and draw docs/pictures/demo.svg: `make picture`.

A real program in a real pseudo-terminal, with a home of its own in which this repository is seen as ~/moot, and a
person who types. Only three things are not as they came: the hour in each reply's header and the port, so that a new
picture says the same words while the demo does (how long each stood is measured anew), and the line in which the
command is typed, because no shell is run. Below: tools/picture.py draws.
"""

import os
import pty
import random
import re
import select
import socket
import subprocess
import sys
import tempfile
import termios
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tools.picture import Beat, film, svg

ROOT = Path(__file__).resolve().parent.parent
PICTURE = ROOT / "docs" / "pictures" / "demo.svg"
MAX_BYTES = 250_000

COLUMNS, LINES = 84, 34
COMMAND = "moot demo"
FOLLOW_UP = "Now a headline, and what could go wrong?"
CTRL_D = "\x04"
SEED = "1"
HOUR = b"12:34"
PORT = b"127.0.0.1:45678"

PATIENCE = 20.0
READING = 2.5
"""Seconds a person takes before they answer."""
HOLD = 7.0
"""Seconds the last screen stands before it all begins again."""

TITLE = "moot demo"
DESCRIPTION = (
    "A terminal with moot demo. A person asks the analyst about AAPL earnings; the analyst answers word by word and "
    "calls the writer, the writer drafts a line, the critic passes. Then the person asks for a headline and what "
    "could go wrong: the analyst passes, the writer answers of its own accord and calls the critic, who answers. "
    "Every reply is marked as demo."
)


class Recording:
    """A program in a pseudo-terminal: what it wrote and when, and a person at its keyboard."""

    def __init__(self, terminal: int, hands: random.Random) -> None:
        self.beats: list[Beat] = []
        self._terminal = terminal
        self._hands = hands
        self._began = time.monotonic()
        self._read_to = 0

    def watch(self, seconds: float) -> bool:
        """Keep what comes meanwhile; False when the program is gone."""
        until = time.monotonic() + seconds
        while (left := until - time.monotonic()) > 0:
            ready, _, _ = select.select([self._terminal], [], [], left)
            if ready:
                try:
                    data = os.read(self._terminal, 65536)
                except OSError:  # how Linux tells that nobody holds the other end any more
                    return False
                if not data:
                    return False
                self.beats.append(Beat(time.monotonic() - self._began, data))
        return True

    def watch_until(self, text: str) -> None:
        """Until the program writes the text, after what was waited for before."""
        limit = time.monotonic() + PATIENCE
        while (found := self._written().find(text.encode(), self._read_to)) < 0:
            if time.monotonic() > limit or not self.watch(0.05):
                raise SystemExit(f"error: {text!r} did not come. What came:\n{self._written().decode()}")
        self._read_to = found + len(text.encode())

    def type(self, text: str) -> None:
        """Letter by letter, at a person's uneven pace."""
        for letter in text:
            os.write(self._terminal, letter.encode())
            self.watch(pause(self._hands))

    def _written(self) -> bytes:
        return b"".join(beat.data for beat in self.beats)


def pause(hands: random.Random) -> float:
    return hands.uniform(0.03, 0.09)


@contextmanager
def recording(command: Sequence[str | Path], home: Path) -> Iterator[Recording]:
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (LINES, COLUMNS))
    environ = {
        "HOME": str(home),
        "LANG": "C.UTF-8",
        "MOOT_DEMO_SEED": SEED,
        "MOOT_HOME": str(home / ".moot"),
        "PATH": os.environ.get("PATH", os.defpath),
        "TERM": "xterm-256color",
    }
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, env=environ, cwd=home)
    os.close(theirs)
    try:
        yield Recording(ours, random.Random(int(SEED)))
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()
        os.close(ours)


def moot_below(home: Path) -> list[Path]:
    """The program by a path below a home: what it prints of itself tells nothing about the machine."""
    repository = home / "moot"
    repository.symlink_to(ROOT)
    programs = repository / ".venv" / "bin"
    return [programs / "python", programs / "moot"]


def demo(home: Path) -> list[Beat]:
    """The demo's tour, a line of the person, and what comes of it."""
    with recording([*moot_below(home), "demo"], home) as seen:
        seen.watch_until("claude mcp add")
        seen.watch(READING)
        seen.type(f"{FOLLOW_UP}\r")
        seen.watch_until("analyst passed · turns 2 of 3")
        seen.watch(READING)
        beats = list(seen.beats)  # leaving would clear the screen
        seen.type(CTRL_D)
        while seen.watch(0.2):
            pass
        return beats


def typed(command: str) -> list[Beat]:
    """The command, as it is typed to a shell."""
    hands, at, beats = random.Random(int(SEED)), 0.6, [Beat(0.0, b"$ ")]
    for letter in command:
        beats.append(Beat(at, letter.encode()))
        at += pause(hands)
    return [*beats, Beat(at + 0.3, b"\r\n")]


def joined(first: Sequence[Beat], then: Sequence[Beat]) -> list[Beat]:
    return [*first, *(Beat(first[-1].at + beat.at, beat.data) for beat in then)]


def at_one_hour(beats: Sequence[Beat]) -> list[Beat]:
    """And at one port: a free one is another each time."""
    return [
        Beat(beat.at, re.sub(rb"127\.0\.0\.1:\d+", PORT, re.sub(rb"(?<!\d)\d\d:\d\d(?!\d)", HOUR, beat.data)))
        for beat in beats
    ]


def troubles(picture: str, private: Sequence[str]) -> list[str]:
    """Why a picture cannot be published: it is too large, or tells about the machine it was made on."""
    told = [f"it names {word}" for word in private if len(word) > 1 and word in picture]
    size = len(picture.encode())
    return [*told, *([f"it has {size} bytes, at most {MAX_BYTES} are allowed"] if size > MAX_BYTES else [])]


def main() -> int:
    with tempfile.TemporaryDirectory() as home:
        beats = joined(typed(COMMAND), at_one_hour(demo(Path(home))))
        private = (home, str(ROOT), str(Path.home()), socket.gethostname())
    picture = svg(film(beats, COLUMNS, LINES, hold=HOLD), title=TITLE, description=DESCRIPTION)
    if found := troubles(picture, private):
        print(f"error: the picture was not written: {'; '.join(found)}", file=sys.stderr)
        return 1
    PICTURE.parent.mkdir(parents=True, exist_ok=True)
    PICTURE.write_text(picture, encoding="utf-8")
    print(f"wrote {PICTURE.relative_to(ROOT)}: {len(picture.encode()) // 1000} kB")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
