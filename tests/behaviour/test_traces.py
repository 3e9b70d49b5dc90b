"""Traces: what a hub sends to a collector, read as a collector reads it."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from tests.support.collector import Collector, attributes

pytestmark = pytest.mark.req("P-07")


@pytest.fixture
def collector() -> Iterator[Collector]:
    started = Collector()
    yield started
    started.close()


@agent("arya")
async def arya(turn: Any) -> str:
    return "@gendry and you?" if "both" in turn.text else "fine"


@agent("gendry")
async def gendry(turn: Any) -> str:
    return "fine too"


async def test_a_message_its_turns_and_their_replies_are_one_trace(
    tmp_path: Path, collector: Collector, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20abc")
    (tmp_path / "moot.toml").write_text(f'[otel]\nendpoint = "{collector.url}/"\nservice = "team"\n')
    async with Hub.open(tmp_path, agents=[arya, gendry]) as hub:
        await hub.conversations.create("room", participants=["arya", "gendry"])
        await hub.post("room", "@arya are you both well? secret-canary")
        await hub.settled("room", timeout=40)
    path, headers, body = collector.requests[0]
    assert path == "/v1/traces"
    assert headers["Authorization"] == "Bearer abc"
    assert {"key": "service.name", "value": {"stringValue": "team"}} in body["resourceSpans"][0]["resource"][
        "attributes"
    ]
    spans = {span["spanId"]: span for span in collector.spans()}
    assert "canary" not in json.dumps(collector.spans())
    assert len({span["traceId"] for span in spans.values()}) == 1
    [send] = [span for span in spans.values() if span["name"] == "send"]
    assert "parentSpanId" not in send
    for span in spans.values():
        assert span is send or span["parentSpanId"] in spans, "every span hangs under one that was sent"
        assert int(span["endTimeUnixNano"]) >= int(span["startTimeUnixNano"]) > 0
    turns = [span for span in spans.values() if span["name"] == "turn"]
    assert {attributes(span)["gen_ai.agent.id"] for span in turns} == {"arya", "gendry"}
    replies = [spans[span["parentSpanId"]]["name"] for span in spans.values() if span["name"] == "reply"]
    assert replies == ["turn"] * len(replies) != []
    [first] = [
        span
        for span in turns
        if span["parentSpanId"] == send["spanId"] and attributes(span)["gen_ai.agent.id"] == "arya"
    ]
    assert attributes(first)["moot.turn.state"] == "said"


async def test_a_collector_that_is_gone_costs_nothing_but_the_traces(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text('[otel]\nendpoint = "http://127.0.0.1:1"\n')
    async with Hub.open(tmp_path, agents=[gendry]) as hub:
        await hub.conversations.create("room", participants=["gendry"])
        await hub.post("room", "@gendry hello")
        await hub.settled("room", timeout=40)
        assert [message.text for message in await hub.messages("room")][-1] == "fine too"


LOADED = """
import asyncio, sys
from moot import Hub

async def main():
    async with Hub.open(sys.argv[1]) as hub:
        await hub.conversations.create("room")

asyncio.run(main())
print(*sorted(name for name in sys.modules if name in ("moot.hub.telemetry.otlp", "urllib.request")))
"""


def test_where_no_collector_is_set_nothing_of_it_is_loaded(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", LOADED, str(tmp_path)], capture_output=True, text=True, check=True
    )
    assert done.stdout.strip() == ""
