"""Seats for processes: who no longer wants one is given none, in whatever moment that is."""

import asyncio

import pytest

from moot.brains.command.process_pool import ProcessPool


async def nothing(*_: object) -> None: ...


async def test_who_is_stopped_in_the_moment_in_which_a_seat_becomes_free_takes_none() -> None:
    """`asyncio.wait_for` of Python 3.11 forgets that it was cancelled when what it waits for comes at the same time."""
    pool = ProcessPool(max_processes=1)
    first = await pool.take(nothing, nothing)
    waits = asyncio.Event()

    async def waiting(_: str) -> None:
        waits.set()

    second = asyncio.create_task(pool.take(nothing, waiting))
    await waits.wait()
    for _ in range(3):  # until it waits for the seat itself
        await asyncio.sleep(0)
    await pool.leave(first)
    second.cancel()
    with pytest.raises(asyncio.CancelledError):
        await second
    assert pool.taken == 0
