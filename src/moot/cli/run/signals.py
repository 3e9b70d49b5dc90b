"""How a process that serves waits for its end: a first signal drains, a second one hurries."""

from __future__ import annotations

import asyncio
import signal
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from moot.hub import Hub


def end_of(hub: Hub) -> asyncio.Event:
    """Set by SIGINT, SIGTERM, or a terminal that is closed (SIGHUP); a second signal gives running turns back at once.

    Called before anybody is told that the hub is up: from then on a signal may come.
    """
    stop = asyncio.Event()

    def told() -> None:
        if stop.is_set():
            hub.hurry()
        stop.set()

    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        loop.add_signal_handler(number, told)
    return stop
