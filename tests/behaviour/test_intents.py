"""What a message is meant as: a closed set, and the graph says who may mean what."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import BadValue, Conflict, NotPermitted
from moot.model.hint import Act, Hint
from moot.model.intent import INTENTS
from tests.support.waiting import until

pytestmark = pytest.mark.req("S-10")
NAMES = ("manager", "support", "peer")


def quiet(name: str) -> Any:
    @agent(name)
    async def think(turn: Any) -> str:
        return "[PASS]"

    return think


@pytest.fixture
async def hub(tmp_path: Path) -> AsyncIterator[Hub]:
    (tmp_path / "moot.toml").write_text("[limits]\npair_backoff_seconds = 0.0\n")
    async with Hub.open(tmp_path, agents=[*map(quiet, NAMES), quiet("stranger")]) as hub:
        await hub.links.create("manager", "support", relationship="superior")
        await hub.links.create("support", "peer")
        yield hub


async def said(hub: Hub) -> int:
    every = await hub.conversations.list()
    return sum([len(await hub.messages(each.id)) for each in every])


async def test_an_unknown_intent_is_refused_and_the_known_ones_are_named(hub: Hub) -> None:
    for attempt in (
        hub.send("support", "hello", intent="greet"),
        hub.acting_as("manager").send("support", "hello", intent="greet"),
        hub.post("link-manager+support", "hello", intent="Inform"),
    ):
        with pytest.raises(BadValue, match="unknown intent") as refused:
            await attempt
        assert all(intent in refused.value.detail for intent in INTENTS)
    assert await said(hub) == 0


@pytest.mark.parametrize(
    ("sender", "receiver", "goes"),
    [
        ("support", "manager", True),
        ("manager", "support", False),
        ("support", "peer", False),
        ("support", "user", True),
        ("user", "support", True),
    ],
)
@pytest.mark.parametrize("intent", ["report", "escalate"])
async def test_reports_and_escalations_go_up(
    hub: Hub, intent: str, sender: str, receiver: str, goes: bool
) -> None:
    voice = hub if sender == "user" else hub.acting_as(sender)
    if goes:
        receipt = await voice.send(receiver, "it is on fire", intent=intent)
        assert (await hub.message(receipt.id)).intent == intent
        return
    with pytest.raises(NotPermitted, match=f"cannot {intent} to {receiver}") as refused:
        await voice.send(receiver, "it is on fire", intent=intent)
    [link] = await hub.links.list(between=f"{sender},{receiver}")
    assert link.sentence in refused.value.title
    assert (refused.value.facts["rule"], refused.value.facts["link"]) == ("link", link.id)
    assert await said(hub) == 0


async def test_where_no_link_says_how_two_stand_anything_may_be_meant(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[quiet("a"), quiet("b")]) as hub:
        for intent in ("inform", "report", "escalate"):
            receipt = await hub.acting_as("a").send("b", f"words of {intent}", intent=intent)
            assert (await hub.message(receipt.id)).intent == intent


async def test_in_a_group_an_escalation_is_for_those_it_names(hub: Hub) -> None:
    await hub.conversations.create("room", participants=list(NAMES))
    support = hub.acting_as("support")
    with pytest.raises(NotPermitted, match="cannot escalate to peer"):
        await support.post("room", "@peer, this is too much for me", intent="escalate")
    for words in ("@manager and @peer, this is too much for us", "this is too much", "@user, help"):
        await support.post("room", words, intent="escalate")


@pytest.mark.parametrize("who", ["user", "manager"])
async def test_a_message_cannot_delegate_and_the_way_is_named(hub: Hub, who: str) -> None:
    voice = hub if who == "user" else hub.acting_as(who)
    with pytest.raises(BadValue, match="cannot delegate") as refused:
        await voice.send("support", "do it", intent="delegate")
    assert refused.value.fix == (Hint(Act.DELEGATE_TO, agent="support"),)
    assert await said(hub) == 0
    assert await hub.tasks.list() == []


@pytest.mark.parametrize("intent", ["approve", "decline"])
async def test_who_approves_or_declines_answers_something(hub: Hub, intent: str) -> None:
    asked = await hub.acting_as("support").send("manager", "may I?")
    with pytest.raises(Conflict, match="answers none") as refused:
        await hub.acting_as("manager").send("support", "yes and no", intent=intent)
    assert "reply_to" in str(refused.value.fix)
    answer = await hub.acting_as("manager").post(
        asked.conversation, "yes and no", intent=intent, reply_to=asked.id
    )
    assert (await hub.message(answer.id)).intent == intent


async def test_in_its_turn_an_agent_approves_what_it_was_asked_there(tmp_path: Path) -> None:
    @agent("manager")
    async def manager(turn: Any) -> str:
        await turn.hub.send("support", "go ahead", intent="approve")
        return "[PASS]"

    async with Hub.open(tmp_path, agents=[manager, quiet("support")]) as hub:
        link = await hub.links.create("manager", "support", relationship="superior")
        await hub.acting_as("support").send("manager", "may I?")
        await hub.settled(timeout=40)
        assert [(m.text, m.intent) for m in await hub.messages(link.channel)] == [
            ("may I?", None),
            ("go ahead", "approve"),
        ]


async def test_what_a_person_decides_says_what_it_means(tmp_path: Path) -> None:
    @agent("dev")
    async def dev(turn: Any) -> str:
        answer = await turn.hub.ask("user", "deploy?", choices=["approve", "decline"], timeout=40)
        return str(answer.intent)

    async with Hub.open(tmp_path, agents=[dev]) as hub:
        await hub.send("dev", "go")
        [asked] = await until(hub.decisions.list, bool)
        await hub.decisions.answer(asked.id, "approve")
        await hub.settled(timeout=40)
        assert (await hub.newest((await hub.conversations.implicit(["dev"])).id))[-1].text == "approve"
