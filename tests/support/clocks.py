"""Clocks of tests in which real time passes."""

import asyncio
import mmap
import struct
from pathlib import Path

from moot.host.clock import SystemClock


class LaterClock(SystemClock):
    """The system's, some time later: whatever whoever was killed had been given for a time has run out."""

    SECONDS = 120.0

    def now(self) -> float:
        return super().now() + self.SECONDS

    async def sleep_until(self, moment: float) -> None:
        await super().sleep_until(moment - self.SECONDS)


class SharedClock(SystemClock):
    """The system's, as far ahead of it as any process has put it that has the same file: who may be kept from running
    for a while has a long lease, and whoever is to lose one loses it soon."""

    LOOK_SECONDS = 0.05
    AHEAD = struct.Struct("d")

    def __init__(self, file: Path) -> None:
        if not file.exists():
            file.write_bytes(self.AHEAD.pack(0.0))
        with file.open("r+b") as opened:
            self._shared = mmap.mmap(opened.fileno(), self.AHEAD.size)

    def _ahead(self) -> float:
        return float(self.AHEAD.unpack_from(self._shared)[0])

    def put_forward(self, seconds: float) -> None:
        self.AHEAD.pack_into(self._shared, 0, self._ahead() + seconds)

    def now(self) -> float:
        return super().now() + self._ahead()

    async def sleep_until(self, moment: float) -> None:
        while (left := moment - self.now()) > 0.0:  # noqa: ASYNC110  another process puts it forward
            await asyncio.sleep(min(left, self.LOOK_SECONDS))
