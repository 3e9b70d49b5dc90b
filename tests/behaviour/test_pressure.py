"""How close brakes are to biting, read before they do: `hub.limits()` says what the next message would meet."""

from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import NotPermitted, RateLimited
from moot.shapes import when
from moot.testing import ManualClock

pytestmark = pytest.mark.req("M-03")
START = 1_800_000_000.0


def quiet(name: str, answer: str = "[PASS]") -> Any:
    @agent(name)
    async def think(turn: Any) -> str:
        return answer

    return think


def hub_of(folder: Path, clock: ManualClock, *agents: Any) -> Any:
    return Hub.open(folder, agents=agents, clock=clock)


async def test_what_is_said_of_a_pair_is_what_the_next_message_meets(tmp_path: Path) -> None:
    """FLOOR 28 and 30, looked at before each send."""
    clock = ManualClock(start=START)
    async with hub_of(tmp_path, clock, quiet("a"), quiet("b")) as hub:
        a = hub.acting_as("a")
        assert (await hub.limits()).pairs == ()
        for wait in (0.0, 1.0, 1.0, 1.0, 5.5, 5.5, 5.5, 5.5, 5.5, 5.5):
            await clock.advance(wait)
            before = {(row.sender, row.to): row for row in (await hub.limits()).pairs}.get(("a", "b"))
            receipt = await a.send("b", f"more {wait}")
            [delivery] = receipt.deliveries
            foreseen = before.hold_seconds if before is not None else 0.0
            assert delivery.delayed_ms == pytest.approx(1000 * foreseen, abs=1)
        [row] = (await hub.limits()).pairs
        assert (row.sent, row.max_sent, row.refused_seconds > 0) == (10, 10, True)
        with pytest.raises(RateLimited) as refused:
            await a.send("b", "one too many")
        assert refused.value.retry_after_ms == pytest.approx(1000 * row.refused_seconds, abs=1)
        await clock.advance(60.0)
        assert [row.refused_seconds for row in (await hub.limits()).pairs] in ([], [0.0])


async def test_how_long_a_message_was_held_stays_with_the_turn_that_took_it(tmp_path: Path) -> None:
    clock = ManualClock(start=START)
    async with hub_of(tmp_path, clock, quiet("a"), quiet("b")) as hub:
        a = hub.acting_as("a")
        first = await a.send("b", "at once")
        await hub.settled(first.conversation)
        await clock.advance(1.0)
        second = await a.send("b", "soon after")
        [delivery] = second.deliveries
        await clock.advance(10.0)
        await hub.settled(first.conversation)
        at_once, later = await hub.turns(conversation=first.conversation)
        assert [(one.message, one.until) for one in at_once.held] == [(first.id, when(START))]
        due = START + 1.0 + delivery.delayed_ms / 1000
        assert [(one.message, one.until) for one in later.held] == [(second.id, when(due))]


async def test_a_person_resets_a_pair_and_is_told_of(tmp_path: Path) -> None:
    clock = ManualClock(start=START)
    async with hub_of(tmp_path, clock, quiet("a"), quiet("b")) as hub:
        for _ in range(3):
            await hub.acting_as("a").send("b", "again")
        assert (await hub.limits()).pairs[0].hold_seconds > 0
        with pytest.raises(NotPermitted):
            await hub.acting_as("a").reset_limit("a", "b")
        row = await hub.reset_limit("a", "b")
        assert (row.sent, row.hold_seconds) == (0, 0.0)
        [delivery] = (await hub.acting_as("a").send("b", "at once")).deliveries
        assert delivery.delayed_ms == 0
        [entry] = await hub.audit.log(acts=["limit.reset"])
        assert entry.by == "user"
        assert "reset the limit of a to b" in entry.sentence
        told = [event for event in (await hub.history.past(0)).events if event.type == "brake.released"]
        assert [(event.by, event.body) for event in told] == [
            ("user", {"rule": "pair_limit", "agents": ["a", "b"]})
        ]


async def test_a_loop_is_seen_coming_and_how_it_was_stopped(tmp_path: Path) -> None:
    clock = ManualClock(start=START)
    async with hub_of(tmp_path, clock, quiet("a", "@b thanks!"), quiet("b", "@a thanks!")) as hub:
        settings = {"max_agent_turns_per_message": 12, "max_depth": 12, "cooldown_seconds": 0.0}
        await hub.conversations.create("polite", participants=["a", "b"], settings=settings)
        await hub.post("polite", "@a say thanks")
        await hub.settled("polite")
        [row] = (await hub.limits(conversation="polite")).chains
        assert (row.conversation, row.turns, row.messages, row.alike, row.stopped) == (
            "polite",
            6,
            6,
            6,
            "no_progress",
        )
        assert (row.max_turns, row.max_alike, row.max_round) == (16, 5, 12)
        assert [(used.agent, used.turns) for used in (await hub.limits()).agents] == [("a", 3), ("b", 3)]
        assert await hub.conversations.resume("polite")
        await hub.settled("polite")


async def test_others_than_the_owner_see_what_concerns_themselves(tmp_path: Path) -> None:
    clock = ManualClock(start=START)
    async with hub_of(tmp_path, clock, quiet("a"), quiet("b"), quiet("c", "yes")) as hub:
        await hub.acting_as("a").send("b", "hello")
        await hub.conversations.create("private", participants=["c"])
        await hub.post("private", "@c well?")
        await hub.settled()
        seen = await hub.acting_as("b").limits()
        assert [(row.sender, row.to) for row in seen.pairs] == [("a", "b")]
        assert {row.agent for row in seen.agents} <= {"b"}
        assert "private" not in {row.conversation for row in seen.chains}
        assert (await hub.acting_as("c").limits()).pairs == ()
        assert "private" in {row.conversation for row in (await hub.limits()).chains}
