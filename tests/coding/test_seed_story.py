"""The story that began it: each CLI is an agent with its own project, messages interject, nobody waits for a sender.

The testing list of the first document on scripted CLIs; the limits of pairs are held where they are decided.
"""

import asyncio
import json

import pytest

from tests.coding.test_interjection import direct, doing
from tests.coding.workshop import Workshop
from tests.support.waiting import until


def writes(target: str, text: str) -> str:
    return f"! moot send_to_agent {json.dumps({'target': target, 'message': text})}"


@pytest.mark.req("J-08")
async def test_a_writes_to_b_which_is_in_mid_stream_and_answers_naturally(workshop: Workshop) -> None:
    workshop.agent("janus", "claude")
    workshop.agent("puppet", "codex", on_busy="interrupt")
    async with workshop.hub() as hub:
        await hub.send("puppet", "! slow " + "word " * 300)
        await until(lambda: doing(hub, "puppet"), lambda state: state == "streaming", 20)
        begun = asyncio.get_running_loop().time()
        sent = await hub.ask("janus", writes("puppet", "! say the port is 5173"), timeout=20)
        assert '"delivered":true' in sent.text
        assert asyncio.get_running_loop().time() - begun < 10, "its call returned at once"
        pair = next(
            one.id
            for one in await hub.conversations.list()
            if {seat.name for seat in one.participants} == {"janus", "puppet"}
        )
        await hub.agents.interrupt("puppet")
        await hub.settled(pair, timeout=20)
        said = [(one.sender, one.text) for one in await hub.messages(pair)]
        own = await hub.messages(await direct(hub, "puppet"))
    assert said[:2] == [("janus", "! say the port is 5173"), ("puppet", "the port is 5173")]
    assert [one for one in own if one.metadata.get("partial")], "what it had said is kept"


@pytest.mark.req("J-08")
async def test_broadcast_reaches_all_and_list_agents_says_who_does_what_where(workshop: Workshop) -> None:
    for name, kind in (("janus", "claude"), ("puppet", "codex"), ("abra", "acp")):
        workshop.agent(name, kind)
    async with workshop.hub() as hub:
        sent = await hub.ask("janus", '! moot broadcast {"message": "! run pwd"}', timeout=20)
        await hub.settled(timeout=30)
        listed = await hub.ask("janus", "! moot list_agents {}", timeout=20)
        heard = await hub.search("projects", limit=50)
    assert set(json.loads(sent.text)["delivered_to"]) == {"puppet", "abra"}
    rows = {row["name"]: row for row in json.loads(listed.text)["agents"]}
    assert set(rows) == {"puppet", "abra"}
    assert json.loads(listed.text)["self"] == "janus"
    assert {row["status"] for row in rows.values()} <= {"idle", "streaming"}
    texts = " ".join(str(hit.message.text) if hasattr(hit, "message") else str(hit) for hit in heard)
    assert str(workshop.project("puppet")) in texts, "each works in its own project"
    assert str(workshop.project("abra")) in texts
