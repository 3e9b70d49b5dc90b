"""`audit/heads.jsonl`: where each chain stood, minute by minute, outside the database.

Who alters the database so that every chain holds again cannot have this file agree as well, unless they have the key
that signs its lines. A line is one chain at one moment. A line that was cut off by a crash says nothing; the next
export says it again. It is kept small: beyond a size only the newest line of every chain stays. Lines that are taken
away at the end are not missed: copy the file to where nobody can do that.

Above: heads_export.py writes it, hub/audit.py compares with it. Not here: what a chain is (rules/audit.py).
"""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

import msgspec
from msgspec import Struct, structs

from moot import files
from moot.failpoints import failpoint
from moot.hub.process.heads_key import HeadsKey
from moot.model.records.audit import ChainEnd
from moot.rules.audit import KnownHead
from moot.settings import Home
from moot.shapes import when

NAME: Final = "heads.jsonl"
MAX_BYTES: Final = 4 * 1024 * 1024
MAX_FILE_BYTES: Final = 1 << 30
"""Bytes of a file that is still read."""


class HeadLine(Struct, frozen=True):
    instance: str
    at: str
    chain: str
    length: int
    hash: str
    signature: str = ""
    """Of all this; none before there was a key."""

    @property
    def signed(self) -> bytes:
        return msgspec.json.encode((self.instance, self.at, self.chain, self.length, self.hash))


_line = msgspec.json.Decoder(HeadLine)


class HeadsFile:
    def __init__(self, home: Home, key: HeadsKey | None = None, *, max_bytes: int = MAX_BYTES) -> None:
        self.path = home.audit / NAME
        self.problems: list[str] = []
        """What is wrong with the file itself, as it was last read."""
        self._key = key
        self._max_bytes = max_bytes
        self._lines: dict[str, HeadLine] = {}
        """The newest line of each chain."""
        self._bytes = 0

    def read(self) -> dict[str, KnownHead]:
        """Where each chain was last known to stand; nothing where there is no file."""
        try:
            data = files.read(self.path, MAX_FILE_BYTES)
        except FileNotFoundError:
            data = b""
        self._bytes = len(data)
        self._lines, self.problems = {}, []
        for number, text in enumerate(data.splitlines(), 1):
            try:
                line = _line.decode(text)
            except (msgspec.DecodeError, UnicodeDecodeError):
                continue  # cut off by a crash
            problem = self._problem(line)
            if problem:
                self.problems.append(f"line {number} of audit/{NAME} {problem}")
            else:
                self._lines[line.chain] = line
        return self.heads

    @property
    def heads(self) -> dict[str, KnownHead]:
        """As it was last read, or written since."""
        return {chain: KnownHead(line.length, line.hash) for chain, line in self._lines.items()}

    def _problem(self, line: HeadLine) -> str:
        if self._key is None:
            return "is signed, and the key is missing" if line.signature else ""
        if not line.signature:
            return "is not signed"
        is_signed = self._key.has_signed(line.signed, line.signature)
        return "" if is_signed else "was altered, or signed with another key"

    def sign_all(self, key: HeadsKey) -> None:
        """From here on every line is signed: those that were written before there was a key are signed now."""
        self._key = key
        self._lines = {chain: self._with_signature(line) for chain, line in self._lines.items()}
        if self._lines:
            self._rewrite()

    def _with_signature(self, line: HeadLine) -> HeadLine:
        return line if self._key is None else structs.replace(line, signature=self._key.sign(line.signed))

    def append(self, ends: list[ChainEnd], instance: str, at: float) -> int:
        """Append those that are new; returns how many."""
        moment = when(at) or ""
        new = [
            self._with_signature(HeadLine(instance, moment, end.chain, end.length, end.hash))
            for end in ends
            if (written := self._lines.get(end.chain)) is None
            or (written.length, written.hash) != (end.length, end.hash)
        ]
        if not new:
            return 0
        self._lines |= {line.chain: line for line in new}
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in new)
        if self._bytes + len(data) > self._max_bytes:
            self._rewrite()
        else:
            self._add(data)
        return len(new)

    def _add(self, data: bytes) -> None:
        file = files.open_private(self.path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        try:
            start = b"\n" if self._bytes and not self._ends_whole() else b""
            half = len(data) // 2
            os.write(file, start + data[:half])
            failpoint("audit.half_written")
            os.write(file, data[half:])
            os.fsync(file)
            self._bytes += len(start) + len(data)
        finally:
            os.close(file)

    def _ends_whole(self) -> bool:
        """Whether the last line was written to its end."""
        return files.read(self.path, MAX_FILE_BYTES).endswith(b"\n")

    def _rewrite(self) -> None:
        """The newest line of every chain, and no other; at least half of the room stays for what comes."""
        data = b"".join(msgspec.json.encode(line) + b"\n" for line in self._lines.values())
        failpoint("audit.rewriting")
        draft = self.path.with_name(f".{NAME}.new")
        with suppress(FileNotFoundError):
            draft.unlink()
        files.create_below(draft.parent, (draft.name,), data)
        draft.replace(self.path)
        self._bytes = len(data)
        self._max_bytes = max(self._max_bytes, 2 * len(data))


def set_aside(home: Home, stamp: str) -> Path | None:
    """Rename the file when another database takes the place of its own."""
    path = home.audit / NAME
    if not os.path.lexists(path):
        return None
    renamed = path.with_name(f"heads-{stamp}.jsonl")
    path.rename(renamed)
    return renamed
