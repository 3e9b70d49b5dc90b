"""The words of a message, with what is piped in behind them: `git diff | moot send arya "review this"`.

Standard input is often open by accident: a terminal, `/dev/null`, the pipe of a supervisor or of ssh, the file that a
shell loop reads. So input that does not begin within a moment is ignored; with a `-` as the last word it is waited for.
"""

import os
import select
import stat
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from moot.cli.frame.hub_access import home_of
from moot.cli.frame.session import Session
from moot.errors import BadText, NotFound

PATIENCE_SECONDS: Final = 3.0
SEPARATOR: Final = "\n\n"
CHUNK: Final = 1 << 16
WHERE: Final = "standard input"


def message_text(session: Session, words: Sequence[str], file: str | None = None) -> str:
    """The words, a file and standard input as one text. A `-` as the last word waits for the latter to its end."""
    is_explicit = bool(words) and words[-1] == "-"
    words_text = " ".join(words[:-1] if is_explicit else words)
    file_text = _file_text(session, file) if file is not None else ""
    piped_text = _decode(_all(session), WHERE) if is_explicit else _piped_text(session)
    return SEPARATOR.join(part for part in (words_text, file_text, piped_text) if part)


def _file_text(session: Session, path: str) -> str:
    try:
        with Path(path).open("rb") as file:
            return _decode(_read_bounded(session, file.fileno(), path), path)
    except OSError as error:
        raise NotFound(f"cannot read {path}: {error.strerror}", ref=path) from error


def _piped_text(session: Session) -> str:
    """The piped text; empty if nothing is piped."""
    try:
        file = sys.stdin.fileno()
        mode = os.fstat(file).st_mode
    except (AttributeError, ValueError, OSError):  # closed, or none to begin with
        return ""
    if os.isatty(file) or (stat.S_ISREG(mode) and os.lseek(file, 0, os.SEEK_CUR) > 0):
        return ""  # another process has begun to read this file
    if not select.select([file], [], [], PATIENCE_SECONDS)[0]:
        session.screen.note(
            f"{WHERE} is open, but nothing arrived for {PATIENCE_SECONDS:g} s: sending the message "
            "without it.\n  fix   end the text with - to wait for it, or add </dev/null to skip it"
        )
        return ""
    text = _decode(_read_bounded(session, file, WHERE), WHERE)
    return "" if text.isspace() else text.rstrip("\n")


def _all(session: Session) -> bytes:
    try:
        return _read_bounded(session, sys.stdin.fileno(), WHERE)
    except (AttributeError, ValueError):  # it is not a file of the system
        return sys.stdin.buffer.read() if sys.stdin is not None else b""


def _read_bounded(session: Session, file: int, where: str) -> bytes:
    """Read to the end; refused if it is longer than a message may be."""
    from moot.settings import load  # noqa: PLC0415  only where there is something to read

    parts: list[bytes] = []
    size, limit = 0, 0
    while part := os.read(file, CHUNK):
        limit = limit or load(home_of(session)).limits.message_bytes
        parts.append(part)
        size += len(part)
        if size > limit:
            raise BadText(
                "the text cannot be stored: it is too long",
                detail=f"expected at most {limit} bytes of UTF-8 (limits.message_bytes); {where} has more",
                fix=("send the part that matters", f"moot config set limits.message_bytes {2 * limit}"),
                problem="too_long",
            )
    return b"".join(parts)


def _decode(data: bytes, where: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise BadText(
            "the text cannot be stored: it is not valid UTF-8",
            detail=f"byte 0x{data[error.start]:02x} at offset {error.start} of {where} is invalid",
            fix=("iconv -t utf-8 FILE | moot send …",),
            problem="utf8",
        ) from None
