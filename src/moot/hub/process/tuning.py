"""Settings of the interpreter for a process that is a hub. A program that only embeds one is left alone."""

import asyncio
import gc
import sys
from collections.abc import Coroutine
from typing import TypeVar

T = TypeVar("T")

COLLECT_AFTER = (50_000, 50, 50)
"""Most of what a hub makes is frozen and free of cycles: looking for them often costs a sixth of the writes."""
TAKE_TURNS_SECONDS = 0.001
"""A writer that decides a large batch holds the interpreter; the event loop waits for it no longer than this."""


def tune_process() -> None:
    gc.collect()
    gc.freeze()
    gc.set_threshold(*COLLECT_AFTER)
    sys.setswitchinterval(TAKE_TURNS_SECONDS)


def run(work: Coroutine[object, object, T]) -> T:
    """`asyncio.run`, on uvloop where there is one."""
    try:
        import uvloop  # noqa: PLC0415  only a process that serves needs it
    except ImportError:  # there is none for Windows
        return asyncio.run(work)
    return uvloop.run(work)
