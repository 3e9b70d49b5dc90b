"""A bridge of two hubs over one PostgreSQL and one Kafka: one runs it, and the other when that one is killed."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from moot import Hub
from moot.bridges import lease
from tests.bridges.aftermath import aftermath
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.test_kills import ANSWERS, SERVING, WROTE
from tests.bridges.worlds import AGENTS, KARL, WORLDS, DiscordWorld, TelegramWorld
from tests.kafka.conftest import SETTINGS
from tests.support.kafka import broker, fresh_prefix
from tests.support.postgres import empty_database
from tests.support.processes import path_of_imports
from tests.support.stopwatch import Stopwatch
from tests.support.topics import SLOW
from tests.support.waiting import until

pytestmark = pytest.mark.req("G-13", "G-14")

HAND_OVER_SECONDS = 10.0


async def homes(folder: Path) -> tuple[Path, Path]:
    text = SETTINGS.format(store=await empty_database(), broker=broker().address, prefix=fresh_prefix())
    for name in ("one", "two"):
        (folder / name).mkdir(mode=0o700)
        (folder / name / "moot.toml").write_text(text)
    return folder / "one", folder / "two"


@pytest.mark.parametrize("app", ["telegram", "discord"])
async def test_the_other_hub_takes_a_bridge_over_within_ten_seconds_and_doubles_nothing(
    tmp_path: Path, app: str
) -> None:
    one, two = await homes(tmp_path)
    async with WORLDS[app]() as world, Hub.open(two, agents=[player(name) for name in AGENTS]) as hub:
        assert isinstance(world, TelegramWorld | DiscordWorld)
        stage = Stage(hub, world)
        await stage.connect()
        chat, where = await stage.group()
        await hub.bridges.link(app, KARL, "user")
        await stage.disconnect()
        before = len(world.posts(chat))
        child = await asyncio.create_subprocess_exec(
            sys.executable,
            "-c",
            SERVING,
            str(one),
            app,
            world.server.url,
            str(lease.LEASE_SECONDS),
            env={**os.environ, "PYTHONPATH": path_of_imports(), "MOOT_FAILPOINT": "bridge.sent:kill:1"},
        )
        try:
            await until(hub.bridges.holders, lambda held: any(each.is_held for each in held), seconds=SLOW)
            for line in WROTE:
                world.say(chat, KARL, line)
            async with asyncio.timeout(SLOW):
                assert await child.wait() == -signal.SIGKILL
            # not before: one that stood by would take the bridge from a hub that a busy machine keeps from renewing
            watch = Stopwatch()
            await stage.connect(seconds=SLOW)
            handed_over = watch.seconds()
        finally:
            if child.returncode is None:
                child.kill()
                await child.wait()
        print(f"handed over after {handed_over:.1f} s")
        found = await aftermath(stage, chat, before, where, seconds=handed_over)
        await stage.disconnect()
    assert found.seconds < HAND_OVER_SECONDS
    assert found.broken_promises(WROTE, ANSWERS) == []
