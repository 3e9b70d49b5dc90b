"""Killed at every point of the way in and out: nothing comes in twice or goes out twice, nothing is lost unseen."""

import asyncio
import os
import signal
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from moot import Hub
from moot.bridges import lease, wait_notices, worker
from moot.bridges.intake import Manners
from moot.bridges.worker import BridgeWorker
from moot.failpoints import BRIDGE_POINTS
from moot.ports import Clock
from moot.testing.fake_discord import FakeDiscord
from moot.testing.fake_telegram import FakeTelegram
from tests.bridges.aftermath import Aftermath, aftermath
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, KARL, READER, WORLDS, DiscordWorld, TelegramWorld
from tests.support.clocks import LaterClock
from tests.support.processes import path_of_imports
from tests.support.stopwatch import Stopwatch
from tests.support.waiting import PATIENCE

pytestmark = [pytest.mark.req("G-13", "G-14"), pytest.mark.timeout(150)]

SERVING = """
import asyncio, sys
from tests.bridges.test_kills import serve
asyncio.run(serve(*sys.argv[1:]))
"""
SETTINGS = "[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n"
LINES = ("@writer one", "/group list", "@critic two")
WROTE = ["@writer one", "@critic two"]
ANSWERS = ["writer answers writer one", "critic answers critic two"]


LONG_LEASE = 30.0
"""Longer than a machine that is busy with other things keeps a hub from renewing it."""


def world_at(app: str, url: str) -> TelegramWorld | DiscordWorld:
    """A chat app whose server runs in another process."""
    world = TelegramWorld(FakeTelegram()) if app == "telegram" else DiscordWorld(FakeDiscord(READER))
    world.server.url = url
    return world


async def serve(home: str, app: str, url: str, seconds: str, *agents: str) -> None:
    """A hub with its bridge, as a process that can be killed. With agents named, nobody waits long for the others."""
    lease.LEASE_SECONDS = float(seconds)
    if agents:
        wait_notices.WAIT_SECONDS = 0.0
        worker.SWEEP_SECONDS = 0.1
    async with Hub.open(home, agents=[player(name) for name in agents or AGENTS]) as hub:
        await BridgeWorker(hub, world_at(app, url).bridge(), Manners()).run()


async def killed(
    home: Path, app: str, url: str, point: str, seconds: float, *, agents: Sequence[str] = ()
) -> int:
    """How a hub ended that was to be killed at a point."""
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVING,
        str(home),
        app,
        url,
        str(seconds),
        *agents,
        env={**os.environ, "PYTHONPATH": path_of_imports(), "MOOT_FAILPOINT": f"{point}:kill:1"},
    )
    try:
        async with asyncio.timeout(2 * PATIENCE):
            return await child.wait()
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def after_a_kill(
    home: Path, app: str, point: str, seconds: float, clock: Clock | None = None
) -> Aftermath:
    """What another hub makes of it, whose clock that is; one has the bridge for so many seconds."""
    (home / "moot.toml").write_text(SETTINGS)
    async with WORLDS[app]() as world:
        async with Hub.open(home, agents=[player(name) for name in AGENTS]) as hub:
            stage = Stage(hub, world)
            await stage.connect()
            chat, where = await stage.group()
            await hub.bridges.link(app, KARL, "user")
            await stage.disconnect()
        before = len(world.posts(chat))
        for line in LINES:
            world.say(chat, KARL, line)
        assert isinstance(world, TelegramWorld | DiscordWorld)
        if await killed(home, app, world.server.url, point, seconds) != -signal.SIGKILL:
            raise RuntimeError(f"the hub was not killed at {point}")
        async with Hub.open(home, agents=[player(name) for name in AGENTS], clock=clock) as hub:
            stage = Stage(hub, world)
            watch = Stopwatch()
            await stage.connect()
            found = await aftermath(stage, chat, before, where, seconds=watch.seconds())
            await stage.disconnect()
    return found


@pytest.mark.parametrize("point", BRIDGE_POINTS)
@pytest.mark.parametrize("app", ["telegram", "discord"])
async def test_killed_at_any_point_nothing_is_doubled_or_lost_unseen(
    app: str, point: str, tmp_path: Path
) -> None:
    found = await after_a_kill(tmp_path, app, point, LONG_LEASE, LaterClock())
    assert found.broken_promises(WROTE, ANSWERS) == []
    listed = [text for text in (*found.shown, *found.unsure) if "max_depth" in text]
    told = [text for text in found.shown if "It may have been done" in text]
    assert listed or told or found.laid_aside, "a command is answered, or said to have been cut short"


@pytest.mark.parametrize("app", ["telegram", "discord"])
async def test_another_hub_takes_over_within_ten_seconds(app: str, tmp_path: Path) -> None:
    found = await after_a_kill(tmp_path, app, "bridge.sent", lease.LEASE_SECONDS)
    assert found.seconds < 10
    assert found.broken_promises(WROTE, ANSWERS) == []
