"""Bursts coalesce: what comes while an agent waits to speak, or speaks, is one turn over all of it (S-14)."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub, agent
from moot.brains.code import AgentSpec
from moot.testing import ManualClock
from tests.support.waiting import until

pytestmark = pytest.mark.req("S-14")
BURST = 20


class Busy:
    """An agent that keeps its first turn until it is let go, and what each of its turns was about."""

    def __init__(self, name: str) -> None:
        self.turns: list[list[str]] = []
        self.begun = asyncio.Event()
        self.may_end = asyncio.Event()

        @agent(name)
        async def speak(turn: Any) -> str:
            self.turns.append([message.text for message in turn.new if message.kind != "system"])
            self.begun.set()
            await self.may_end.wait()
            return f"answer {len(self.turns)}"

        self.spec: AgentSpec = speak


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "moot.toml").write_text("[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n")
    return tmp_path


async def test_between_two_a_burst_in_mid_turn_is_one_more_turn(home: Path) -> None:
    arya = Busy("arya")
    async with Hub.open(home, agents=[arya.spec]) as hub:
        first = await hub.send("arya", "first")
        await arya.begun.wait()
        burst = [f"more {n}" for n in range(BURST)]
        receipts = [await hub.send("arya", text) for text in burst]
        assert {part.state for receipt in receipts for part in receipt.deliveries} == {"queued"}
        arya.may_end.set()
        await hub.settled(first.conversation)
        assert arya.turns == [["first"], burst]
        assert [m.text for m in await hub.messages(first.conversation)][-2:] == ["answer 1", "answer 2"]


async def test_in_a_group_whoever_waits_for_the_floor_gets_one_turn(home: Path) -> None:
    arya, gendry = Busy("arya"), Busy("gendry")
    gendry.may_end.set()
    async with Hub.open(home, agents=[arya.spec, gendry.spec]) as hub:
        await hub.conversations.create("room", participants=["arya", "gendry"])
        await hub.post("room", "@arya @gendry first")
        await arya.begun.wait()
        burst = [f"@gendry more {n}" for n in range(BURST)]
        for text in burst:
            await hub.post("room", text)
        arya.may_end.set()
        await hub.settled("room")
        assert gendry.turns == [["@arya @gendry first", *burst, "answer 1"]]
        assert len([m for m in await hub.messages("room") if m.sender == "gendry"]) == 1


async def test_whoever_was_away_gets_one_turn_over_all_it_missed(home: Path) -> None:
    arya = Busy("arya")
    arya.may_end.set()
    async with Hub.open(home) as hub:
        await hub.agents.create("arya")
        receipts = [await hub.send("arya", f"missed {n}") for n in range(BURST)]
        assert {part.state for receipt in receipts for part in receipt.deliveries} == {"owed"}
        await hub.host([arya.spec])
        await until(lambda: hub.turns(state="said"), lambda turns: len(turns) == 1)
        await hub.settled()
    assert arya.turns == [[f"missed {n}" for n in range(BURST)]]


async def test_what_is_held_by_the_limit_of_a_pair_comes_in_one_turn(home: Path) -> None:
    clock = ManualClock()
    turns: list[list[str]] = []

    @agent("arya")
    async def arya(turn: Any) -> str:
        turns.append([message.text for message in turn.new])
        return PASS

    @agent("bob")
    async def bob(turn: Any) -> str:
        return PASS

    async with Hub.open(home, agents=[arya, bob], clock=clock) as hub:
        as_bob = hub.acting_as("bob")
        first = await as_bob.send("arya", "0")
        await hub.settled(first.conversation)
        held = [await as_bob.send("arya", str(n)) for n in range(1, 5)]
        assert all(part.delayed_ms for receipt in held for part in receipt.deliveries)
        assert turns == [["0"]]
        for _ in range(10):
            await clock.advance(5)
        await hub.settled(first.conversation)
    assert turns == [["0"], ["1", "2", "3", "4"]]
