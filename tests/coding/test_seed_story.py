"""The story that began it: each CLI is an agent with its own project, messages interject, nobody waits for a sender.

The testing list of the first document, line by line and by name, on scripted CLIs over real pipes.
"""

import json

import pytest

from moot import Hub
from tests.coding.test_interjection import direct, doing, texts
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("J-08")


def uses(tool: str, **arguments: str) -> str:
    return f"! moot {tool} {json.dumps(arguments)}"


def writes(target: str, text: str) -> str:
    return uses("send_to_agent", target=target, message=text)


async def pair_of(hub: Hub, *names: str) -> str:
    return next(
        str(one.id)
        for one in await hub.conversations.list()
        if {seat.name for seat in one.participants} == set(names)
    )


async def answer(hub: Hub, name: str, text: str) -> dict[str, object]:
    found: dict[str, object] = json.loads((await hub.ask(name, text, timeout=PATIENCE)).text)
    return found


async def test_two_agents_name_themselves(workshop: Workshop) -> None:
    for name, kind in (("first", "claude"), ("second", "codex")):
        workshop.agent(name, kind)
    async with workshop.hub() as hub:
        assert (await answer(hub, "first", uses("set_name", name="janus-dev")))["new_name"] == "janus-dev"
        assert (await answer(hub, "second", uses("set_name", name="puppet-dev")))["new_name"] == "puppet-dev"
        listed = await answer(hub, "janus-dev", uses("list_agents"))
    assert listed["self"] == "janus-dev"
    assert [row["name"] for row in listed["agents"]] == ["puppet-dev"]  # type: ignore[attr-defined]


@pytest.mark.req("J-06")
async def test_a_sends_to_b_which_is_interrupted_in_mid_stream_and_answers_naturally(
    workshop: Workshop,
) -> None:
    """Also: A's call returns at once, and what B had said is kept."""
    workshop.agent("janus", "claude")
    workshop.agent("puppet", "codex", on_busy="interrupt")
    async with workshop.hub() as hub:
        await hub.send("puppet", workshop.streaming)
        await until(lambda: doing(hub, "puppet"), lambda state: state == "streaming")
        sent = await answer(hub, "janus", writes("puppet", "! say the port is 5173"))
        pair = await pair_of(hub, "janus", "puppet")
        said = await until(lambda: texts(hub, pair), lambda told: len(told) > 1)
        own = await hub.messages(await direct(hub, "puppet"))
        [heard] = [one for one in await hub.messages(pair) if one.sender == "janus"][:1]
    assert sent["delivered"] is True
    assert said[:2] == [("janus", "! say the port is 5173"), ("puppet", "the port is 5173")]
    assert [one for one in own if one.metadata.get("partial")]
    assert heard.metadata["type"] == "inter-agent"
    assert heard.metadata["sender"] == "janus"


@pytest.mark.req("J-04")
async def test_rapid_messages_are_backed_off_and_capped(workshop: Workshop) -> None:
    """Ten a minute for a pair; the eleventh is refused with the time to wait."""
    workshop.head = "[limits]\nchain_messages = 100"
    workshop.agent("janus", "claude")
    workshop.agent("puppet", "codex")
    async with workshop.hub() as hub:
        rapid = "\n".join([writes("puppet", "! say [PASS]")] * 11)
        told = (await hub.ask("janus", rapid, timeout=PATIENCE)).text
        [pair] = [one for one in (await hub.limits()).pairs if one.sender == "janus"]
        second = await answer(hub, "janus", writes("nobody", "are you there?"))
    assert second == {"delivered": False, "error": "Agent not found", "available": ["puppet"]}
    last = json.loads(told)
    assert (last["delivered"], last["error"]) == (False, "Rate limited")
    assert int(last["retry_after_ms"]) > 0
    assert pair.sent == 10
    assert pair.refused_seconds > 0


async def test_broadcast_reaches_several_and_each_runs_pwd_in_its_own_project(workshop: Workshop) -> None:
    for name, kind in (("janus", "claude"), ("puppet", "codex"), ("abra", "acp")):
        workshop.agent(name, kind)
    async with workshop.hub() as hub:
        sent = await answer(hub, "janus", uses("broadcast", message="! run pwd"))
        assert set(sent["delivered_to"]) == {"puppet", "abra"}  # type: ignore[call-overload]
        for name in ("puppet", "abra"):
            pair = await pair_of(hub, "janus", name)
            said = await until(lambda pair=pair: texts(hub, pair), lambda told: len(told) > 1)  # type: ignore[misc]
            assert (said[1][0], said[1][1].strip()) == (name, str(workshop.project(name)))


async def test_list_agents_shows_who_is_streaming_who_idles_and_where_each_works(workshop: Workshop) -> None:
    for name, kind in (("janus", "claude"), ("puppet", "codex"), ("abra", "acp")):
        workshop.agent(name, kind)
    async with workshop.hub() as hub:
        await hub.send("puppet", workshop.streaming)
        await until(lambda: doing(hub, "puppet"), lambda state: state == "streaming")
        listed = await answer(hub, "janus", uses("list_agents"))
        await hub.agents.interrupt("puppet")
    rows = {row["name"]: (row["status"], row["project"]) for row in listed["agents"]}  # type: ignore[attr-defined]
    assert rows == {
        "puppet": ("streaming", str(workshop.project("puppet"))),
        "abra": ("idle", str(workshop.project("abra"))),
    }
