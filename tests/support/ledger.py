"""The ledger: what clients did and what they were told, one JSON line per operation.

A line is `ok` (acknowledged), `fail` (refused for certain: it must never appear) or `info` (no answer: it may
have happened). A client repeats an `info` with the same key until it is `ok`. Readers write down every item
they were shown, and every cursor they were told. tests/support/checker.py judges; this file only remembers.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path

from msgspec import Struct, json


class Op(Struct, frozen=True, omit_defaults=True):
    """One operation of one client. Times are the machine's monotonic clock, which all processes share."""

    op: str
    """`post`, `edit`, `read` (an item shown to a reader) or `cursor` (how far an agent was told it has read)."""
    conv: str
    sender: str
    type: str
    key: str = ""
    body_sha: str = ""
    t_invoke: float = 0.0
    t_return: float = 0.0
    id: str = ""
    seq: int = 0


OK, FAIL, INFO = "ok", "fail", "info"
now = time.monotonic


def body_sha(text: str) -> str:
    return sha256(text.encode()).hexdigest()


class Ledger:
    """Appends to a file; a line is written whole, also when several processes share the file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.ops: list[Op] = []
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)

    def add(self, op: Op) -> None:
        self.ops.append(op)
        os.write(self._file, json.encode(op) + b"\n")

    def close(self) -> None:
        os.close(self._file)

    def __enter__(self) -> Ledger:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def read(*paths: Path) -> list[Op]:
    """All lines of all files. A last line that its writer did not finish is no line."""
    lines = (line for path in paths if path.exists() for line in path.read_bytes().split(b"\n")[:-1])
    return [json.decode(line, type=Op) for line in lines]


def acked(ops: Iterable[Op]) -> int:
    """How many different messages were acknowledged."""
    return len({(op.sender, op.key) for op in ops if op.op == "post" and op.type == OK})
