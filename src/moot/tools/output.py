"""The output of a program, made harmless, and how it ended, in words.

Above: shell.py. Below: process.py, which ran it.
Not here: how much is kept; process.py stops reading into memory at the cap.
"""

import re
import signal
from typing import Final

from moot.model.prompt import ToolResult
from moot.tools.process import Bounds, ProgramEnding, Ran

# Sequences that move the cursor, colour, name the window or write to the clipboard: gone as a whole. An operating
# system command that is never ended takes the rest of its line.
_SEQUENCE: Final = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]"  # CSI
    r"|\x1b[\]PX^_][^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, DCS, SOS, PM, APC
    r"|\x9b[0-?]*[ -/]*[@-~]"
    r"|\x1b[ -/]*[0-~]"
)
# What is left of control: C0 but tab and newline, DEL, C1, and what turns or hides text.
_CONTROL: Final = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028\u2029\u202a-\u202e\u2060-\u2069\ufeff\ufff9-\ufffb"
    r"\U000e0000-\U000e007f]"
)
_SIGNALS_FROM: Final = 128


def harmless(output: bytes) -> str:
    """Text that cannot act on a terminal or pretend to read in another order."""
    text = output.decode("utf-8", "replace").replace("\r\n", "\n")
    return _CONTROL.sub("\ufffd", _SEQUENCE.sub("", text).replace("\r", "\n"))


def to_result(ran: Ran, bounds: Bounds) -> ToolResult:
    """Exit code or what ended it, the output, and what is missing from it."""
    text = harmless(ran.output).rstrip("\n")
    parts = [_how_it_ended(ran, bounds)]
    parts += [text] if text else ["(no output)"]
    if ran.cut:
        parts.append(f"… {ran.cut} more bytes")
    return ToolResult("\n".join(parts), failed=ran.ending is not ProgramEnding.EXITED or ran.code != 0)


def _how_it_ended(ran: Ran, bounds: Bounds) -> str:
    match ran.ending:
        case ProgramEnding.EXITED:
            return _exit(ran.code)
        case ProgramEnding.TIME:
            return f"stopped: it ran longer than {bounds.seconds:g} seconds"
        case ProgramEnding.PROCESSES:
            return f"stopped: it had more than {bounds.processes} processes"
        case ProgramEnding.MEMORY:
            return f"stopped: it used more than {_size(bounds.memory_bytes)} of memory"
        case ProgramEnding.OUTPUT:
            return f"stopped: it printed more than {_size(bounds.flood_bytes)}"


def _exit(code: int) -> str:
    number = -code if code < 0 else code - _SIGNALS_FROM
    if code < 0 or code > _SIGNALS_FROM:
        try:
            name = signal.Signals(number).name
        except ValueError:
            return f"exit code {code}"
        return f"ended by signal {name}{_why(name)}"
    return f"exit code {code}"


def _why(name: str) -> str:
    match name:
        case "SIGXCPU":
            return ": it used up its processor time"
        case "SIGXFSZ":
            return ": it wrote a file that is too large"
        case _:
            return ""


def _size(count: int) -> str:
    mib = count / (1024 * 1024)
    return f"{mib:g} MiB" if mib >= 1 else f"{count} bytes"
