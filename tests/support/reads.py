"""What a caller at a door makes the store read. What a hub reads for itself meanwhile, at whatever moment, is left out:
whom to ping, what has come due, whose presence has lapsed."""

import sys
from types import FrameType
from typing import Any

import pytest

from moot.stores.sqlite.reads import SqliteReads

READS = [name for name in vars(SqliteReads) if not name.startswith("_") and name != "close"]


def counted(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The reads of the store from now on that a door asked for, by name."""
    reads: list[str] = []
    for name in READS:
        inner = getattr(SqliteReads, name)

        def noted(self: Any, *given: Any, name: str = name, inner: Any = inner, **options: Any) -> Any:
            if _is_for_a_caller(sys._getframe(1)):
                reads.append(name)
            return inner(self, *given, **options)

        monkeypatch.setattr(SqliteReads, name, noted)
    return reads


def _is_for_a_caller(frame: FrameType | None) -> bool:
    """Whether a door stands among those who wait for it; a task of the hub's own has none above it."""
    while frame is not None:
        if str(frame.f_globals.get("__name__")).startswith("moot.doors."):
            return True
        frame = frame.f_back
    return False
