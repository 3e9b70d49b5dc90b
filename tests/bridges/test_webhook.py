"""Telegram calls in place of being polled: only with the secret, each update once and in order, once it is stored."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from msgspec import json

from moot import Hub
from moot.bridges.bridge import Bridge, FloodRule
from moot.bridges.findings import BAD, OK
from moot.bridges.telegram.bridge import TelegramBridge
from moot.bridges.telegram.checkup import check_setup
from moot.bridges.telegram.webhook import MAX_BODY_BYTES, WebhookPlan, webhook_plan
from moot.errors import BadValue
from moot.testing.fake_telegram import FakeTelegram
from moot.testing.fake_telegram.webhook_calls import call_webhook
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, KARL, TelegramWorld
from tests.support.elsewhere import free_port
from tests.support.waiting import until

pytestmark = pytest.mark.req("G-13")

SECRET = "a-secret-of-the-webhook"


class WebhookWorld(TelegramWorld):
    def __init__(self, server: FakeTelegram) -> None:
        super().__init__(server)
        port = free_port()
        self.plan = WebhookPlan(f"http://127.0.0.1:{port}/tg", SECRET, "127.0.0.1", port)

    def bridge(self) -> Bridge:
        return TelegramBridge(
            self.tokens, api_url=self.server.url, pace=FloodRule(0.0, 1000), webhook=self.plan
        )


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    (tmp_path / "moot.toml").write_text("[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n")
    async with (
        FakeTelegram() as server,
        Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub,
    ):
        made = Stage(hub, WebhookWorld(server))
        await made.connect()
        try:
            yield made
        finally:
            await made.disconnect()


def world_of(stage: Stage) -> WebhookWorld:
    assert isinstance(stage.world, WebhookWorld)
    return stage.world


async def test_what_telegram_brings_comes_in_once_and_in_order(stage: Stage) -> None:
    world = world_of(stage)
    chat, where = await stage.group()
    before = len(world.posts(chat))
    for number in range(3):
        world.say(chat, KARL, f"@writer line {number}")
    await stage.quiet()
    world.repeat(chat)
    await stage.disconnect()
    world.say(chat, KARL, "while nobody listened")
    await stage.connect()
    await stage.quiet()
    mine = [text for sender, text in await stage.said(where) if sender.startswith("karl")]
    assert mine == ["@writer line 0", "@writer line 1", "@writer line 2", "while nobody listened"]
    assert {post.speaker for post in world.posts(chat)[before:]} == {"writer"}
    assert not any(method == "getUpdates" for _, method, _ in world.server.calls)


async def test_nobody_but_telegram_is_listened_to(stage: Stage) -> None:
    world = world_of(stage)
    chat, where = await stage.group()
    said = await stage.said(where)
    address = world.plan.address("writer")
    user = {"id": int(KARL), "is_bot": False, "first_name": "Karl"}
    place = world.server.chats[int(chat)].fields
    forged = {
        "update_id": 1,
        "message": {"message_id": 999, "date": 1, "chat": place, "from": user, "text": "@writer forged"},
    }
    body = json.encode(forged)
    for secret in ("", "wrong", SECRET[:-1], SECRET + "x"):
        assert await call_webhook(address, secret, body) == 403
    assert await call_webhook(world.plan.address("nobody"), SECRET, body) == 404
    assert await call_webhook(address, SECRET, b"not json") == 400
    assert await call_webhook(address, SECRET, b"[1]") == 400
    assert await call_webhook(address, SECRET, b" " * (MAX_BODY_BYTES + 1)) == 413
    await stage.quiet()
    assert await stage.said(where) == said
    assert await call_webhook(address, SECRET, body) == 200
    assert await call_webhook(address, SECRET, body) == 200, "a replay is answered, and changes nothing"
    await stage.quiet()
    assert [text for _, text in await stage.said(where)].count("@writer forged") == 1


async def test_the_check_says_whether_telegram_calls_this_hub(stage: Stage) -> None:
    world = world_of(stage)
    await until(lambda: hooks(world), all)
    tokens, url = world.tokens, world.server.url
    found = await check_setup(tokens, url, [], hub_polls=True, posts=False, webhook_url=world.plan.url)
    assert [one.state for one in found] == [OK] * 6
    other = await check_setup(
        tokens, url, [], hub_polls=True, posts=False, webhook_url="https://example.org/x"
    )
    assert "Telegram does not call https://example.org/x/analyst" in [
        one.text for one in other if one.state == BAD
    ]
    polled = await check_setup(tokens, url, [], hub_polls=True, posts=False)
    assert "deleteWebhook" in next(one.fix for one in polled if one.state == BAD)


async def hooks(world: WebhookWorld) -> list[str]:
    return [bot.webhook for bot in world.server.bots.values()]


@pytest.mark.parametrize(
    ("url", "secret", "listen", "said"),
    [
        ("http://example.org", SECRET, "127.0.0.1:1", "https://"),
        ("https://example.org", "", "127.0.0.1:1", "webhook_secret"),
        ("https://example.org", "short", "127.0.0.1:1", "webhook_secret"),
        ("https://example.org", SECRET, "nowhere", "webhook_listen"),
    ],
)
def test_a_webhook_that_cannot_work_is_refused_with_its_reason(
    url: str, secret: str, listen: str, said: str
) -> None:
    with pytest.raises(BadValue, match=said):
        webhook_plan(url, secret, listen)


def test_without_an_address_the_bots_poll() -> None:
    assert webhook_plan("", "", "127.0.0.1:8443") is None
