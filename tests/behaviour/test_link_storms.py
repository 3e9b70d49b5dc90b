"""Agents that set each other off over links: every storm ends at a cap, and who stopped it says what can be done."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import Braked
from moot.model.hint import Act, Hint
from moot.model.limits import Limits

NAMES = [f"agent{number}" for number in range(17)]
NO_PAIR_BRAKE = (
    "[limits]\npair_backoff_seconds = 0.0\npair_per_minute = 1000\n[groups]\ncooldown_seconds = 0.0\n"
)
pytestmark = pytest.mark.req("M-03")


def storming(name: str, stopped: list[Braked]) -> Any:
    """Writes to the next two in every turn, until it is stopped."""
    place = NAMES.index(name)

    @agent(name)
    async def think(turn: Any) -> str:
        for step in (1, 2):
            try:
                await turn.hub.send(
                    NAMES[(place + step) % len(NAMES)], f"{name} {turn.id} {step}: pass it on"
                )
            except Braked as brake:
                stopped.append(brake)
        return "[PASS]"

    return think


async def said_by_agents(hub: Hub) -> int:
    every = await hub.conversations.list()
    said = await asyncio.gather(*(hub.messages(each.id, limit=1000) for each in every))
    return sum(message.kind == "agent" for messages in said for message in messages)


MANY_TURNS = NO_PAIR_BRAKE.replace("[limits]", "[limits]\nchain_turns = 1000\nchain_depth = 1000")


@pytest.mark.parametrize("limits", [NO_PAIR_BRAKE, MANY_TURNS], ids=["usual turns", "any number of turns"])
async def test_seventeen_linked_agents_that_write_to_two_each_end_at_the_cap(
    tmp_path: Path, limits: str
) -> None:
    stopped: list[Braked] = []
    (tmp_path / "moot.toml").write_text(limits)
    async with Hub.open(tmp_path, agents=[storming(name, stopped) for name in NAMES]) as hub:
        for place, name in enumerate(NAMES):
            for step in (1, 2):
                await hub.links.create(name, NAMES[(place + step) % len(NAMES)])
        await hub.send("agent0", "tell everybody")
        await hub.settled(timeout=40)
        assert await said_by_agents(hub) == Limits().chain_messages == 32
        assert any("/continue" in text for text in await notices(hub)), "the way out is named"
        if limits is MANY_TURNS:  # messages are what ends it there, and the way out is one
            assert await hub.conversations.resume(way_out(stopped[0]))
            await hub.settled(timeout=40)
            assert 32 <= await said_by_agents(hub) <= 64, "none, where all had been read by then"


async def notices(hub: Hub) -> list[str]:
    every = await hub.conversations.list()
    said = await asyncio.gather(*(hub.messages(each.id, limit=1000) for each in every))
    return [message.text for messages in said for message in messages if message.kind == "system"]


async def test_in_a_group_they_end_in_under_twenty_messages(tmp_path: Path) -> None:
    def calling(name: str) -> Any:
        place = NAMES.index(name)

        @agent(name)
        async def think(turn: Any) -> str:
            first, second = (NAMES[(place + step) % len(NAMES)] for step in (1, 2))
            return f"turn {turn.id}: over to @{first} and @{second}"

        return think

    (tmp_path / "moot.toml").write_text(NO_PAIR_BRAKE)
    async with Hub.open(tmp_path, agents=[calling(name) for name in NAMES]) as hub:
        await hub.conversations.create("room", participants=NAMES)
        await hub.post("room", "tell everybody, @agent0")
        await hub.settled("room", timeout=40)
        assert 2 < await said_by_agents(hub) < 20


async def test_a_low_cap_is_met_and_names_the_way_out(tmp_path: Path) -> None:
    stopped: list[Braked] = []
    (tmp_path / "moot.toml").write_text(NO_PAIR_BRAKE.replace("[limits]", "[limits]\nchain_messages = 6"))
    async with Hub.open(tmp_path, agents=[storming(name, stopped) for name in NAMES]) as hub:
        await hub.links.create("agent0", "agent1")
        await hub.links.create("agent0", "agent2")
        await hub.links.create("agent1", "agent2")
        await hub.links.create("agent1", "agent3")
        await hub.links.create("agent2", "agent3")
        await hub.links.create("agent2", "agent4")
        await hub.send("agent0", "tell everybody")
        await hub.settled(timeout=40)
        assert await said_by_agents(hub) == 6
        assert stopped
        assert stopped[0].facts["rule"] == "chain"
        assert [way.act for way in stopped[0].fix] == [Act.CONTINUE_CHAIN]  # type: ignore[union-attr]


def way_out(brake: Braked) -> str:
    [hint] = brake.fix
    assert isinstance(hint, Hint)
    return hint.conversation


async def test_thanks_for_thanks_over_a_link_end_after_three_exchanges(tmp_path: Path) -> None:
    @agent("a")
    async def first(turn: Any) -> str:
        if turn.trigger.kind == "human":
            await turn.hub.send("b", "the report is ready")
            return "I told b"
        return "Thank you!"

    @agent("b")
    async def second(turn: Any) -> str:
        return "Thanks, great!"

    (tmp_path / "moot.toml").write_text(NO_PAIR_BRAKE)
    async with Hub.open(tmp_path, agents=[first, second]) as hub:
        link = await hub.links.create("a", "b")
        await hub.send("a", "tell b")
        await hub.settled(timeout=40)
        said = await hub.messages(link.channel)
        assert 2 < len([message for message in said if message.kind == "agent"]) <= 6
        assert (said[-1].kind, said[-1].metadata["notice"]) == ("system", "brake")
        assert "/continue" in said[-1].text, "the way out is named"
