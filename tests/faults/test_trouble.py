"""Short trouble with the store or a listener: it costs time, never an answer, and nothing stops for good."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from moot.brains.code import AgentSpec
from moot.errors import StoreUnwritable
from moot.flow import finish, reserve
from moot.hub import Hub
from moot.model.event import Event
from moot.rules.budgets import AgentBudget
from tests.support.beneath import store_of
from tests.support.waiting import PATIENCE, until

LEASE = 3.0
"""Of which a third goes by between two heartbeats: whoever misses one has a second in hand for the next."""


async def think(turn: Any) -> str:
    return f"{turn.agent} has read {turn.trigger.id} and answers it"


def home(folder: Path) -> Path:
    (folder / "moot.toml").write_text(f"[host]\nlease_seconds = {LEASE}\n", encoding="utf-8")
    return folder


def failing_once(work: Callable[..., Any]) -> Callable[..., Any]:
    """The same, but the first time there is trouble."""
    calls: list[None] = []

    def instead(*arguments: Any) -> Any:
        calls.append(None)
        if len(calls) == 1:
            raise StoreUnwritable("the disk is full for a moment")
        return work(*arguments)

    return instead


async def test_agents_stay_present_when_one_heartbeat_fails(tmp_path: Path) -> None:
    async with Hub.open(home(tmp_path), agents=[AgentSpec("ann", think)]) as hub:
        engine = store_of(hub)._engine
        beat = asyncio.Event()
        loop = asyncio.get_running_loop()
        commit = engine.commit

        def heard() -> None:
            commit()
            loop.call_soon_threadsafe(beat.set)

        engine.commit = failing_once(heard)
        async with asyncio.timeout(PATIENCE):
            await beat.wait()
        engine.commit = commit
        assert (await hub.agents.get("ann")).reachability == "live"
        await hub.conversations.create("room", participants=["ann"])
        await hub.post("room", "@ann still there?")
        await hub.settled("room", timeout=40)
        assert [message.sender for message in await hub.messages("room")] == ["user", "ann"]


@pytest.mark.parametrize("verb", [reserve, finish])
async def test_a_store_that_is_away_for_a_moment_costs_no_turn(
    tmp_path: Path, verb: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither when its budget is asked nor when it ends: it waits, and what was said is kept."""
    thoughts: list[None] = []

    async def thinks(turn: Any) -> str:
        thoughts.append(None)
        return "my answer"

    spec = AgentSpec("ann", thinks, budget=AgentBudget(usd=100.0))
    async with Hub.open(tmp_path, agents=[spec]) as hub:
        monkeypatch.setattr(verb, "decide", failing_once(verb.decide))
        await hub.conversations.create("room", participants=["ann"])
        await hub.post("room", "@ann are you there?")
        await hub.settled("room", timeout=40)
        assert [message.text for message in await hub.messages("room")][1:] == ["my answer"]
        assert thoughts == [None], "it thought once"
        await hub.post("room", "@ann and now?")
        await hub.settled("room", timeout=40)
        assert len(await hub.messages("room")) == 4, "its place is free again"


async def test_held_turns_come_due_when_one_sweep_fails(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[AgentSpec("ann", think)]) as hub:
        await hub.conversations.create("room", participants=["ann"], settings={"cooldown_seconds": 0.3})
        await hub.post("room", "@ann one")
        await hub.settled("room", timeout=40)
        store = store_of(hub)
        store.due = failing_once(store.due)
        await hub.post("room", "@ann two")
        await hub.settled("room", timeout=40)
        assert len(await hub.messages("room")) == 4


@pytest.mark.filterwarnings("ignore")
async def test_a_listener_that_fails_keeps_no_answer_back(tmp_path: Path) -> None:
    heard: list[BaseException | None] = []
    asyncio.get_running_loop().set_exception_handler(
        lambda _, context: heard.append(context.get("exception"))
    )

    def fails(events: list[Event]) -> None:
        raise ValueError("a listener failed")

    async with Hub.open(tmp_path) as hub:
        await hub.conversations.create("room")
        hub._core.parts.log.watch(fails)
        async with asyncio.timeout(PATIENCE):
            receipt = await hub.post("room", "hello")
        assert receipt.seq == 1
        told, *_ = await until(lambda: asyncio.sleep(0, heard), bool)
        assert isinstance(told, ValueError)


async def test_what_was_said_is_found_while_the_disk_takes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Hub.open(home(tmp_path)) as hub:
        await hub.conversations.create("room")
        await hub.post("room", "the old plan")
        assert len(await hub.search("plan")) == 1
        await hub.post("room", "the new plan")

        def full() -> None:
            raise StoreUnwritable("the disk is full")

        monkeypatch.setattr(store_of(hub)._engine, "begin", full)
        with pytest.raises(StoreUnwritable):
            await hub.post("room", "another plan")
        assert "the old plan" in [hit.message.text for hit in await hub.search("plan")]
        monkeypatch.undo()
        assert len(await hub.search("plan")) == 2
