"""How fast is posted: one a second and twenty a minute, and as late as the chat app says."""

import asyncio
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.bridges.bridge import FloodRule
from moot.bridges.dispatch import MAX_QUEUED
from moot.bridges.flood import FloodGate
from moot.bridges.intake import ChatTurns
from moot.model.records.chat_apps.bridge import BridgePost
from moot.testing import ManualClock
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, World
from tests.support.waiting import PATIENCE

MANY = 1000


async def test_twenty_a_minute_and_one_a_second() -> None:
    clock = ManualClock(1_800_000_000.0)
    gate = FloodGate(clock, FloodRule(1.0, 20))
    begun = clock.now()
    for number in range(20):
        assert gate.next_at() <= begun + number
        await gate.wait_for_turn()
        await clock.advance(1.0)
    assert gate.next_at() == begun + 60.0


async def test_told_to_wait_it_waits() -> None:
    clock = ManualClock(1_800_000_000.0)
    gate = FloodGate(clock, FloodRule(0.0, 1000))
    gate.close_for(5.0)
    assert gate.next_at() == clock.now() + 5.0
    await clock.advance(5.0)
    await gate.wait_for_turn()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(time.time())


@pytest.fixture
async def stage(
    tmp_path: Path, world: World, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    for name in ("lease.LEASE_SECONDS", "lease.RENEW_SECONDS", "worker.SWEEP_SECONDS"):
        monkeypatch.setattr(f"moot.bridges.{name}", 360_000.0)
    async with Hub.open(tmp_path, agents=[player(name) for name in AGENTS], clock=clock) as hub:
        stage = Stage(hub, world)
        await stage.connect()
        await stage.quiet()
        try:
            yield stage
        finally:
            await stage.disconnect()


@pytest.mark.timeout(300)
@pytest.mark.req("G-13", "G-14")
@pytest.mark.parametrize("world", ["telegram", "discord"], indirect=True)
async def test_a_thousand_posts_go_out_in_order_and_at_the_pace_that_is_allowed(
    stage: Stage, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However much is said, only so much of it waits in the queue; and the chat app may say to wait in between."""
    chat, where = await stage.group()
    dispatch: Any = stage.worker.dispatch
    real, sent, most, under_way = dispatch._send, [], 0, 0

    async def send(post: BridgePost) -> bool:
        nonlocal under_way
        at, under_way = clock.now(), 1
        is_there = bool(await real(post))
        under_way = 0
        sent.extend([(at, post.text)] if is_there else [])
        return is_there

    monkeypatch.setattr(dispatch, "_send", send)
    monkeypatch.setattr(stage.worker.bridge, "_pace", FloodRule(1.0, 20))
    dispatch._gates.clear()
    for number in range(MANY):
        await stage.hub.post(where, f"line {number}")
    stage.world.flood(5.0)
    async with asyncio.timeout(6 * PATIENCE):
        while len(sent) < MANY:
            if under_way:  # no time passes meanwhile
                await asyncio.sleep(0.001)
                continue
            await clock.advance(3.0)
            if not len(sent) % 50:
                most = max(most, len(await stage.hub.bridges.posts("queued")))
    assert [text for _, text in sent] == [f"● user: line {number}" for number in range(MANY)]
    times = [at for at, _ in sent]
    assert all(later - early >= 60.0 for early, later in zip(times, times[20:], strict=False))
    assert 0 < most < 3 * MAX_QUEUED
    assert await stage.hub.bridges.posts() == []
    assert len([post for post in stage.world.posts(chat) if "line" in post.text]) == MANY


async def test_what_nobody_waits_for_is_forgotten() -> None:
    turns = ChatTurns()

    async def take(chat: str) -> None:
        async with turns.of(chat):
            await asyncio.sleep(0)

    await asyncio.gather(*(take(str(number % 7)) for number in range(1000)))
    assert len(turns) == 0
