"""Killed at every point of the way in and out: nothing comes in twice or goes out twice, nothing is lost unseen."""

import asyncio
import os
import signal
import sys
from pathlib import Path

import pytest

from moot import Hub
from moot.bridges import lease
from moot.bridges.intake import Manners
from moot.bridges.worker import BridgeWorker
from moot.failpoints import BRIDGE_POINTS
from moot.testing.fake_telegram import FakeTelegram
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, KARL, TelegramWorld
from tests.support.processes import path_of_imports

pytestmark = pytest.mark.req("G-13")

SERVING = """
import asyncio, sys
from tests.bridges.test_kills import serve
asyncio.run(serve(*sys.argv[1:]))
"""
SETTINGS = "[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n"
LINES = ("@writer one", "/group list", "@critic two")


def short_leases(seconds: str) -> None:
    lease.LEASE_SECONDS = float(seconds)
    lease.RENEW_SECONDS = float(seconds) / 4
    lease.MARGIN_SECONDS = float(seconds) / 10


async def serve(home: str, url: str, seconds: str) -> None:
    """A hub with its bridge, as a process that can be killed."""
    short_leases(seconds)
    server = FakeTelegram()
    server.url = url
    async with Hub.open(home, agents=[player(name) for name in AGENTS]) as hub:
        await BridgeWorker(hub, TelegramWorld(server).bridge(), Manners()).run()


async def killed(home: Path, url: str, point: str, seconds: float) -> None:
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-c",
        SERVING,
        str(home),
        url,
        str(seconds),
        env={**os.environ, "PYTHONPATH": path_of_imports(), "MOOT_FAILPOINT": f"{point}:kill:1"},
    )
    try:
        async with asyncio.timeout(40):
            assert await child.wait() == -signal.SIGKILL
    finally:
        if child.returncode is None:
            child.kill()
            await child.wait()


async def survives(home: Path, point: str, seconds: float) -> None:
    (home / "moot.toml").write_text(SETTINGS)
    async with FakeTelegram() as server:
        world = TelegramWorld(server)
        async with Hub.open(home, agents=[player(name) for name in AGENTS]) as hub:
            stage = Stage(hub, world)
            await stage.connect()
            chat, where = await stage.group()
            await hub.bridges.link("telegram", KARL, "user")
            await stage.disconnect()
        before = len(world.posts(chat))
        for line in LINES:
            world.say(chat, KARL, line)
        await killed(home, server.url, point, seconds)
        async with Hub.open(home, agents=[player(name) for name in AGENTS]) as hub:
            stage = Stage(hub, world)
            begun = asyncio.get_running_loop().time()
            await stage.connect()
            assert asyncio.get_running_loop().time() - begun < 10, "handed over within ten seconds"
            await stage.quiet()
            said = await stage.said(where)
            shown = [post.text for post in await stage.shown(chat, before)]
            unsure = [post.text for post in await hub.bridges.posts("unconfirmed")]
            lost_commands = await hub.bridges.dead_letters()
            await stage.disconnect()
    mine = [text for sender, text in said if sender == "user"]
    assert mine == ["@writer one", "@critic two"], "in once, in order"
    answers = [text for sender, text in said if sender in AGENTS]
    assert sorted(answers) == ["critic answers critic two", "writer answers writer one"]
    assert len(shown) == len(set(shown)), "nothing is out twice"
    assert all(answer in shown or answer in unsure for answer in answers), "nothing is lost unseen"
    listed = [text for text in (*shown, *unsure) if "max_depth" in text]
    assert listed or lost_commands or any("It may have been done" in text for text in shown)


@pytest.mark.parametrize("point", BRIDGE_POINTS)
async def test_killed_at_any_point_nothing_is_doubled_or_lost_unseen(
    point: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("LEASE_SECONDS", "RENEW_SECONDS", "MARGIN_SECONDS"):
        monkeypatch.setattr(lease, name, getattr(lease, name))
    short_leases("1.0")
    await survives(tmp_path, point, 1.0)


async def test_another_hub_takes_over_within_ten_seconds(tmp_path: Path) -> None:
    await survives(tmp_path, "bridge.sent", lease.LEASE_SECONDS)
