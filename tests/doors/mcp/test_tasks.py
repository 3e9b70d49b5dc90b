"""Delegating and reporting by tool, and that each caller is listed what it could use (J-02, S-09, S-10)."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from types import SimpleNamespace

import pytest

from moot.doors.mcp import tools
from moot.model.records.wait import WAITS
from moot.testing import ManualClock
from tests.doors.http.world import World
from tests.doors.mcp.conftest import ERAS, Called, came_in
from tests.support.beneath import store_of
from tests.support.waiting import until

pytestmark = pytest.mark.req("J-02", "S-10")


async def listed(caller: Called) -> set[str]:
    return {tool.name for tool in (await caller.client.list_tools()).tools}


@pytest.mark.parametrize("era", ERAS)
async def test_a_superior_delegates_and_its_report_ends_the_task(world: World, era: str) -> None:
    await world.hub.links.create("bob", "eve", relationship="superior")
    async with came_in(world, "bob", era) as bob, came_in(world, "eve", era) as eve:
        assert "delegate" in await listed(bob)
        assert {"delegate", "update_task"}.isdisjoint(await listed(eve))
        task = await bob("delegate", target="eve", task="count the tickets", deadline_seconds=600)
        assert (task["to"], task["state"]) == ("eve", "open")
        assert "update_task" in await listed(eve)
        [message] = (await eve("check_messages"))["messages"]
        assert message["text"] == "count the tickets"
        working = await eve("update_task", id=task["id"], state="working", result="half of it")
        assert (working["state"], working["note"]) == ("working", "half of it")
        done = await eve("update_task", id=task["id"], state="done", result="two are open")
        assert (done["state"], done["result"]) == ("done", "two are open")
        assert "update_task" not in await listed(eve)
        heard = (await bob("check_messages"))["messages"]
        assert "two are open" in heard[-1]["text"]


async def test_who_says_that_it_is_at_a_task_may_look_for_messages_meanwhile(world: World) -> None:
    await world.hub.links.create("bob", "eve", relationship="superior")
    async with came_in(world, "bob") as bob, came_in(world, "eve") as eve:
        task = await bob("delegate", target="eve", task="count the tickets")
        await eve("check_messages")
        await eve("update_task", id=task["id"], state="working", result="half of it")
        for _ in range(2):  # which ends the turn in which it was handed the task
            await eve("check_messages")
        assert (await world.hub.tasks.get(task["id"])).state == "working"
        done = await eve("update_task", id=task["id"], state="done", result="two are open")
        assert (done["state"], done["result"]) == ("done", "two are open")


async def test_an_outside_delegator_reads_that_its_task_failed(world: World) -> None:
    await world.hub.links.create("bob", "eve", relationship="superior")
    async with came_in(world, "bob") as bob, came_in(world, "eve") as eve:
        task = await bob("delegate", target="eve", task="count the tickets")
        await eve("check_messages")
        await eve("check_messages")  # it had nothing to say
        heard = await bob("check_messages")
        assert [message["text"] for message in heard["messages"]][-1] == (
            f"[eve could not do the task {task['id']}: it read the task and said nothing]"
        )


async def test_an_escalation_by_tool_goes_up_and_not_down(world: World) -> None:
    await world.hub.links.create("bob", "eve", relationship="superior")
    async with came_in(world, "bob") as bob, came_in(world, "eve") as eve:
        sent = await eve("send_to_agent", target="bob", message="it is on fire", intent="escalate")
        assert (await world.hub.message(sent["id"])).intent == "escalate"
        refused = await bob("send_to_agent", target="eve", message="you see to it", intent="escalate")
        assert not refused["delivered"]
        assert "cannot escalate to eve" in refused["error"]
        unknown = await bob.error("send_to_agent", target="eve", message="hm", intent="shout")
        assert "inform, ask, delegate" in unknown["detail"]
        way = await bob.error("send_to_agent", target="eve", message="do it", intent="delegate")
        assert way["fix"] == ['delegate(target="eve", task="…")']


@pytest.mark.req("M-05")
async def test_a_question_by_tool_says_what_the_answer_has_to_look_like(world: World) -> None:
    async with came_in(world, "bob") as bob:
        asked = await bob("ask", target="arya", question="how many?", shape={"type": "integer"})
        assert (asked["answered"], asked["outcome"]) == (False, "failed")
        assert (asked["expected"], asked["answer"]) == ({"type": "integer"}, "arya heard how many?")
        said = {"type": "string", "maxLength": 100}
        asked = await bob("ask", target="arya", question="how many?", shape=said)
        assert asked["message"]["metadata"]["answer"] == "arya heard how many?"
        refused = await bob.error("ask", target="arya", question="?", shape={"pattern": "x"})
        assert "known are type" in refused["detail"]


async def test_who_is_nobodys_superior_is_refused_and_told_why(world: World) -> None:
    await world.hub.links.create("bob", "eve")
    async with came_in(world, "bob") as bob, came_in(world, "eve") as eve:
        refused = await bob.error("delegate", target="eve", task="do it")
        assert refused["name"] == "not_permitted"
        assert "are peers" in refused["title"]
        assert 'ask(target="eve", question="…")' in refused["fix"]
        unknown = await eve.error("update_task", id="t0", state="done")
        assert unknown["name"] == "task_not_found"
    assert await world.hub.tasks.list() == []


@pytest.mark.req("S-09")
async def test_the_send_tool_is_listed_only_where_it_could_be_used(world: World) -> None:
    sending = {"send_to_agent", "broadcast"}
    async with came_in(world, "bob") as bob, came_in(world, "eve") as eve:
        assert sending <= await listed(bob)
        link = await world.hub.links.create("eve", "bob", direction="one_way")
        assert sending.isdisjoint(await listed(bob))
        assert sending <= await listed(eve)
        refused = await bob("send_to_agent", target="eve", message="hello")
        assert refused["delivered"] is False
        await world.hub.links.update(link.id, enabled=False)
        assert sending.isdisjoint(await listed(eve))


async def test_the_list_of_agents_says_whom_one_may_write_to_and_what_they_are(world: World) -> None:
    await world.hub.links.create("bob", "eve", relationship="superior", direction="one_way")
    async with came_in(world, "bob") as bob, came_in(world, "eve") as eve:
        for caller, other, standing in (
            (bob, "eve", {"may_write": True, "relationship": "subordinate"}),
            (eve, "bob", {"may_write": False, "relationship": "superior"}),
            (bob, "arya", {"may_write": False}),
        ):
            there = {agent["name"]: agent for agent in (await caller("list_agents"))["agents"]}
            assert standing.items() <= there[other].items()
            assert "relationship" not in there["arya"]
            assert "may_write" not in there[(await caller("list_agents"))["self"]]


async def test_a_person_is_asked_with_choices_and_decides_once(world: World) -> None:
    async with came_in(world, "bob") as bob:
        asking = asyncio.ensure_future(bob("ask", target="user", question="deploy?", choices=["yes", "no"]))
        [asked] = await until(lambda: world.hub.decisions.list(state="open"), bool)
        assert asked.choices == ("yes", "no")
        await world.hub.decisions.answer(asked.id, "2")
        answer = await asking
        assert (answer["answered"], answer["message"]["text"]) == (True, "no")


def held_until_asked(monkeypatch: pytest.MonkeyPatch, world: World) -> None:
    """A call is held until its question stands, and no longer."""
    waits = store_of(world.hub).records

    @asynccontextmanager
    async def timeout(seconds: float) -> AsyncIterator[None]:
        async with asyncio.timeout(seconds) as held:

            async def watch() -> None:
                await until(lambda: waits(WAITS.all()), bool)
                held.reschedule(asyncio.get_running_loop().time())

            watching = asyncio.ensure_future(watch())
            try:
                yield
            finally:
                watching.cancel()

    monkeypatch.setattr(tools, "asyncio", SimpleNamespace(timeout=timeout))


async def test_an_answer_that_takes_longer_than_a_call_is_held_comes_as_a_message(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_until_asked(monkeypatch, world)
    async with came_in(world, "bob") as bob:
        asked = {"question": "may we deploy this on a Friday?", "deadline_seconds": 3600}
        waiting = await bob("ask", target="user", choices=["yes", "no"], **asked)
        assert (waiting["answered"], waiting["outcome"]) == (False, "waiting")
        [decision] = await world.hub.decisions.list(state="open")
        await world.hub.decisions.answer(decision.id, "no")
        assert [message["text"] for message in (await bob("check_messages"))["messages"]] == ["no"]
        endless = await bob.error("ask", target="user", question="why?", deadline_seconds=1e9)
        assert "deadline_seconds" in endless["title"]


@pytest.mark.req("M-05")
async def test_a_deadline_beyond_what_a_call_is_held_is_told_when_it_passes(
    still: World, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    held_until_asked(monkeypatch, still)
    async with came_in(still, "bob") as bob, came_in(still, "eve") as eve:
        waiting = await bob("ask", target="eve", question="does it scale?", deadline_seconds=600)
        assert (waiting["answered"], waiting["outcome"]) == (False, "waiting")
        assert "at your deadline" in waiting["error"]

        async def heard() -> list[str]:
            return [message["text"] for message in (await bob("check_messages"))["messages"]]

        assert not await heard(), "not before its time"
        await clock.advance(601)
        assert await until(heard, bool) == ["[eve has not answered question #1 in time]"]
        [question] = (await eve("check_messages"))["messages"]
        await eve("reply", message_id=question["id"], text="it does, up to a thousand agents")
        assert await until(heard, bool) == ["it does, up to a thousand agents"]
        assert not await heard(), "once"
