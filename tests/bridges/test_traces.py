"""Traces over a bridge: what came in, the turn, its reply and its way out to the chat app are one trace."""

import json
from pathlib import Path

import pytest

from moot import Hub
from moot.testing.fake_telegram import FakeTelegram
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, KARL, TelegramWorld
from tests.support.collector import Collector, attributes

TOML = "[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n[otel]\nendpoint = {}\n"


@pytest.mark.req("P-07", "G-13")
async def test_from_a_chat_app_to_a_turn_and_back_to_the_chat_app_is_one_trace(tmp_path: Path) -> None:
    collector = Collector()
    (tmp_path / "moot.toml").write_text(TOML.format(json.dumps(collector.url)))
    try:
        async with (
            FakeTelegram() as server,
            Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub,
        ):
            stage = Stage(hub, TelegramWorld(server))
            await stage.connect()
            chat, where = await stage.group()
            await hub.bridges.link("telegram", KARL, "user")
            stage.world.say(chat, KARL, "@writer a canary of a question")
            await stage.quiet()
            await stage.disconnect()
            [question] = [
                one for one in await hub.messages(where) if "canary" in one.text and one.kind == "human"
            ]
    finally:
        collector.close()
    assert "canary" not in json.dumps(collector.spans())
    spans = {span["spanId"]: span for span in collector.spans()}
    [sent] = [
        span
        for span in spans.values()
        if span["name"] == "send" and attributes(span)["moot.message.id"] == question.id
    ]
    chain = [span for span in spans.values() if span["traceId"] == sent["traceId"]]
    out = [span for span in chain if span["name"] == "bridge"]
    assert out
    for span in out:
        assert attributes(span)["moot.bridge"] == "telegram"
        assert attributes(span)["moot.bridge.state"] == "sent"
        reply = spans[span["parentSpanId"]]
        turn = spans[reply["parentSpanId"]]
        assert (reply["name"], turn["name"], turn["parentSpanId"]) == ("reply", "turn", sent["spanId"])
