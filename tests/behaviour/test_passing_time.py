"""Time passes, step by step or in one leap: what falls due happens at its time, and nobody alive is taken for dead."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot.brains.code import AgentSpec
from moot.flow import sweep
from moot.hub import Hub
from moot.model.ids import ConversationId
from moot.model.turn import OPEN
from moot.shapes import when
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.waiting import until

LEASE = 15.0
PAUSES = 200


class Thinker:
    """An agent that answers when it is let to."""

    def __init__(self) -> None:
        self.heard: list[str] = []
        self.ended = 0
        self.gate = asyncio.Event()

    async def __call__(self, turn: Any) -> str:
        self.heard.append(turn.text)
        try:
            await self.gate.wait()
        finally:
            self.ended += 1
        return f"heard {turn.text}"

    async def asked(self, count: int) -> None:
        await until(self._calls, lambda calls: calls >= count)

    async def _calls(self) -> int:
        return len(self.heard)


async def said(hub: Hub, conversation: str) -> list[tuple[str, str]]:
    return [(m.sender, m.text) for m in await hub.messages(conversation, limit=1000)]


async def all_answered(hub: Hub) -> None:
    await until(lambda: store_of(hub).turns(states=tuple(OPEN)), lambda turns: not turns)


async def test_a_living_host_keeps_its_turn_however_far_the_clock_is_advanced(tmp_path: Path) -> None:
    clock, thinker = ManualClock(), Thinker()
    async with Hub.open(tmp_path, agents=[AgentSpec("a", thinker)], clock=clock) as hub:
        where = (await hub.send("a", "think long")).conversation
        await thinker.asked(1)
        await clock.advance(30)
        await clock.advance(300)
        [turn] = await hub.turns(conversation=where)
        assert (turn.state, thinker.heard, thinker.ended) == ("running", ["think long"], 0)
        thinker.gate.set()
        await hub.settled(where)
        assert await said(hub, where) == [("user", "think long"), ("a", "heard think long")]


async def test_silence_in_a_group_ends_a_turn_at_its_deadline_and_its_function(tmp_path: Path) -> None:
    clock, thinker = ManualClock(), Thinker()
    async with Hub.open(tmp_path, agents=[AgentSpec("a", thinker)], clock=clock) as hub:
        await hub.conversations.create("room", participants=["a"])
        await hub.post("room", "@a think long")
        await thinker.asked(1)
        start = clock.now()
        await clock.advance(3000)
        [done] = await hub.turns(conversation="room")
        assert (done.state, thinker.heard) == ("expired", ["@a think long"])
        assert done.ended_at == when(start + 30)
        assert (await said(hub, "room"))[1:] == [("system", "[a did not answer in time]")]
        await until(_ended(thinker), lambda count: count == 1)


def _ended(thinker: Thinker) -> Any:
    async def look() -> int:
        return thinker.ended

    return look


async def test_what_falls_due_on_the_way_happens_on_the_way(tmp_path: Path) -> None:
    clock, thinker = ManualClock(), Thinker()
    thinker.gate.set()
    woken: list[float] = []

    async def sleeper(moment: float) -> None:
        await clock.sleep_until(moment)
        woken.append(clock.now())

    async with Hub.open(tmp_path, agents=[AgentSpec("a", thinker)], clock=clock) as hub:
        start = clock.now()
        sleepers = [asyncio.create_task(sleeper(start + n)) for n in (40, 1, 7)]
        await hub.conversations.create("room", participants=["a"])
        await hub.post("room", "@a one")
        await hub.settled("room")
        await hub.post("room", "@a two")
        assert [turn.state for turn in await hub.turns(conversation="room")] == ["said", "held"]
        await clock.advance(3600)
        await asyncio.gather(*sleepers)
        await hub.settled("room")
        assert woken == [start + 1, start + 7, start + 40]
        turns = await store_of(hub).turns(conversation=(await hub.conversations.get("room")).id)
        assert [turn.started_at - start for turn in turns] == [0.0, 2.0]


async def test_a_machine_that_sleeps_beyond_the_lease_costs_no_turn(tmp_path: Path) -> None:
    """Its own host wakes with it, and says that it lives before anybody is judged."""
    clock, thinker = ManualClock(), Thinker()
    async with Hub.open(tmp_path, agents=[AgentSpec("a", thinker)], clock=clock) as hub:
        await hub.conversations.create("room", participants=["a"])
        for n in range(PAUSES):
            thinker.gate.clear()
            await hub.post("room", f"@a {n}")
            await clock.advance(2)
            await thinker.asked(n + 1)
            clock.set(clock.now() + 20 * LEASE)
            await clock.advance(LEASE)
            thinker.gate.set()
            await hub.settled("room")
        assert thinker.heard == [f"@a {n}" for n in range(PAUSES)]
        answers = [(("user", f"@a {n}"), ("a", f"heard @a {n}")) for n in range(PAUSES)]
        assert await said(hub, "room") == [one for pair in answers for one in pair]


@pytest.mark.parametrize("beats_late", [False, True])
async def test_a_turn_taken_away_and_claimed_again_is_answered_once(
    tmp_path: Path, *, beats_late: bool
) -> None:
    """Somebody else's sweep comes first; the host learns of it by its heartbeat, or by what the log tells."""
    clock, thinker = ManualClock(), Thinker()
    async with Hub.open(tmp_path, agents=[AgentSpec("a", thinker)], clock=clock) as hub:
        core = hub._core
        where = (await hub.send("a", "0")).conversation
        for n in range(PAUSES // 2):
            if n:
                thinker.gate.clear()
                await hub.send("a", str(n))
            await thinker.asked(2 * n + 1)
            if beats_late:
                core.host._last_beat = clock.now() + 2 * LEASE
            clock.set(clock.now() + 2 * LEASE)
            await core.parts.store.transact(sweep, sweep.Sweep(ConversationId(where)))
            await thinker.asked(2 * n + 2)
            thinker.gate.set()
            await all_answered(hub)
        assert thinker.ended == len(thinker.heard) == PAUSES, "what was taken away is not left running"
        answers = [(("user", str(n)), ("a", f"heard {n}")) for n in range(PAUSES // 2)]
        assert await said(hub, where) == [one for pair in answers for one in pair]


async def test_a_clock_set_back_keeps_nobody_waiting_for_longer(tmp_path: Path) -> None:
    """A held turn, one that nobody has claimed, and one that runs and is silent: each comes due as if nothing were."""
    clock, thinker = ManualClock(), Thinker()
    thinker.gate.set()
    async with Hub.open(tmp_path, agents=[AgentSpec("a", thinker)], clock=clock) as hub:
        await hub.conversations.create("room", participants=["a"])
        await hub.post("room", "@a one")
        await hub.settled("room")
        thinker.gate.clear()
        await hub.post("room", "@a two")
        assert (await hub.turns(conversation="room"))[-1].state == "held"
        clock.set(clock.now() - 3600)
        await clock.advance(2)
        await thinker.asked(2)
        clock.set(clock.now() - 3600)
        await clock.advance(31)
        assert (await hub.turns(conversation="room"))[-1].state == "expired"
        thinker.gate.set()
        await hub.post("room", "@a three")
        await clock.advance(2)
        await hub.settled("room")
        assert (await said(hub, "room"))[-1] == ("a", "heard @a three")
        assert (await hub.agents.get("a")).reachability == "live"
