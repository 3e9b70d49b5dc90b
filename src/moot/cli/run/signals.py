"""Signals of a serving process: the first one drains it, a second one stops it at once; SIGHUP reloads."""

from __future__ import annotations

import asyncio
import os
import signal
from contextlib import suppress
from typing import TYPE_CHECKING

from moot.errors import MootError

if TYPE_CHECKING:
    from moot.hub import Hub

TERMINAL = "/dev/tty"


def end_of(hub: Hub) -> asyncio.Event:
    """Set by SIGINT, SIGTERM, or a terminal that is closed; a second signal gives running turns back at once. SIGHUP
    while the terminal is there, or if there never was one, reloads moot.toml.

    Called before the hub is announced: from then on a signal may come.
    """
    stop = asyncio.Event()
    tasks: set[asyncio.Task[None]] = set()
    stays = not _has_terminal() or signal.getsignal(signal.SIGHUP) is signal.SIG_IGN
    loop = asyncio.get_running_loop()

    def on_signal() -> None:
        if stop.is_set():
            hub.hurry()
        stop.set()

    def on_hangup() -> None:
        if not stays and not _has_terminal():
            on_signal()
            return
        task = loop.create_task(_reload(hub))
        tasks.add(task)
        task.add_done_callback(tasks.discard)

    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, on_signal)
    loop.add_signal_handler(signal.SIGHUP, on_hangup)
    return stop


async def _reload(hub: Hub) -> None:
    with suppress(MootError):  # the hub has logged and reported it
        await hub.reload()


def _has_terminal() -> bool:
    """Whether a terminal belongs to this process, and is still there."""
    try:
        os.close(os.open(TERMINAL, os.O_RDONLY | os.O_NOCTTY))
    except OSError:
        return False
    return True
