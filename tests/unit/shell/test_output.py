"""What a program printed is told with its exit code, and cannot act on whoever shows it."""

import pytest

from moot.model.prompt import ToolResult
from moot.tools.output import harmless, to_result
from moot.tools.process import Bounds, ProgramEnding, Ran

pytestmark = pytest.mark.req("K-10")


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        (b"plain\ttext\n", "plain\ttext\n"),
        (b"\x1b[31mred\x1b[0m", "red"),
        (b"\x1b[2J\x1b[H\x1b[?1049h", ""),
        (b"\x1b]0;title\x07after", "after"),
        (b"\x1b]52;c;cm0gLXJm\x1b\\after", "after"),
        (b"\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        (b"\x1bP+q544e\x1b\\x", "x"),
        (b"\x1b]never ended\nnext line", "\nnext line"),
        (b"\x1bc", ""),
        (b"\xc2\x9b31mC1", "C1"),
        (b"a\x00b\x07c\x08d\x7f", "a\ufffdb\ufffdc\ufffdd\ufffd"),
        (b"one\r\ntwo\rthree", "one\ntwo\nthree"),
        ("abc\u202edef\u2066\u200b".encode(), "abc\ufffddef\ufffd\ufffd"),
        ("tag \U000e0041".encode(), "tag \ufffd"),
        (b"\xff\xfe", "\ufffd\ufffd"),
        ("grüß 你好 👍🏽".encode(), "grüß 你好 👍🏽"),
        (b"\x1b", "\ufffd"),
        (b"\x1b\x1b[1m[1m", "\ufffd[1m"),
    ],
)
def test_output_is_made_harmless(printed: bytes, shown: str) -> None:
    assert harmless(printed) == shown
    assert "\x1b" not in harmless(printed)


@pytest.mark.parametrize(
    ("ran", "text", "failed"),
    [
        (Ran(ProgramEnding.EXITED, 0, b"hi\n", 0), "exit code 0\nhi", False),
        (Ran(ProgramEnding.EXITED, 0, b"", 0), "exit code 0\n(no output)", False),
        (Ran(ProgramEnding.EXITED, 1, b"no", 0), "exit code 1\nno", True),
        (Ran(ProgramEnding.EXITED, 0, b"ab", 7), "exit code 0\nab\n… 7 more bytes", False),
        (Ran(ProgramEnding.EXITED, 139, b"", 0), "ended by signal SIGSEGV\n(no output)", True),
        (Ran(ProgramEnding.EXITED, -9, b"", 0), "ended by signal SIGKILL\n(no output)", True),
        (
            Ran(ProgramEnding.EXITED, 152, b"", 0),
            "ended by signal SIGXCPU: it used up its processor time\n(no output)",
            True,
        ),
        (Ran(ProgramEnding.EXITED, 255, b"", 0), "exit code 255\n(no output)", True),
        (Ran(ProgramEnding.TIME, 0, b"half", 0), "stopped: it ran longer than 60 seconds\nhalf", True),
        (
            Ran(ProgramEnding.PROCESSES, 0, b"", 0),
            "stopped: it had more than 128 processes\n(no output)",
            True,
        ),
        (
            Ran(ProgramEnding.MEMORY, 0, b"", 0),
            "stopped: it used more than 4096 MiB of memory\n(no output)",
            True,
        ),
        (
            Ran(ProgramEnding.OUTPUT, 0, b"y", 9),
            "stopped: it printed more than 64 MiB\ny\n… 9 more bytes",
            True,
        ),
    ],
)
def test_every_ending_is_told(ran: Ran, text: str, failed: bool) -> None:
    assert to_result(ran, Bounds()) == ToolResult(text, failed)
