"""What agents ask people to decide: asked once, answered once, by who was asked."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import BadValue, Conflict, NotFound, TimedOut
from moot.flow import give_up
from moot.testing import ManualClock
from tests.support.waiting import until

pytestmark = pytest.mark.req("M-08")
START = 1_800_000_000.0


@agent("deployer")
async def deployer(turn: Any) -> str:
    answer = await turn.hub.ask("user", "deploy now?", choices=["yes", "not today"], timeout=40)
    return f"you said {answer.text}"


async def open_one(hub: Hub) -> Any:
    [found] = await until(lambda: hub.decisions.list(state="open"), bool)
    return found


@pytest.mark.parametrize(("said", "meant"), [("yes", "yes"), ("NOT TODAY", "not today"), ("2", "not today")])
async def test_an_agent_waits_for_what_a_person_decides(tmp_path: Path, said: str, meant: str) -> None:
    async with Hub.open(tmp_path, agents=[deployer]) as hub:
        asking = asyncio.ensure_future(hub.ask("deployer", "ship it", timeout=40))
        asked = await open_one(hub)
        assert (asked.by, asked.to, asked.choices) == ("deployer", "user", ("yes", "not today"))
        decided = await hub.decisions.answer(asked.id[:8], said)
        assert (decided.state, decided.answer) == ("answered", meant)
        assert (await asking).text == f"you said {meant}"
        await hub.settled(timeout=40)
        assert [turn.state for turn in await hub.turns(agent="deployer")] == ["said"], "it is not woken twice"
        with pytest.raises(Conflict, match="is already"):
            await hub.decisions.answer(asked.id, "yes")


async def test_only_one_of_the_choices_counts_and_only_from_whom_was_asked(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[deployer]) as hub:
        await hub.agents.create("bert", human=True)
        await hub.agents.create("other")
        await hub.post((await hub.conversations.implicit(["deployer"])).id, "ship it")
        asked = await open_one(hub)
        with pytest.raises(BadValue, match="not one of the choices"):
            await hub.decisions.answer(asked.id, "perhaps")
        for who in ("bert", "other", "deployer"):
            with pytest.raises(NotFound):
                await hub.acting_as(who).decisions.answer(asked.id, "yes")
        assert await hub.acting_as("other").decisions.list() == []
        assert (await hub.decisions.get(asked.id)).state == "open"


async def test_the_beginning_of_an_id_is_enough_only_if_no_other_begins_so(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[deployer]) as hub:
        for name in ("one", "two"):
            await hub.conversations.create(name, participants=["deployer"])
            await hub.post(name, "@deployer ship it")
        found = await until(lambda: hub.decisions.list(state="open"), lambda some: len(some) == 2)
        ids = sorted(one.id for one in found)
        shared = ids[0][: next(at for at, (one, other) in enumerate(zip(*ids, strict=True)) if one != other)]
        assert len(shared) >= 4, "made one after the other, they begin alike"
        with pytest.raises(BadValue, match="several decisions begin with") as refused:
            await hub.decisions.answer(shared, "yes")
        assert all(id in refused.value.detail for id in ids)
        with pytest.raises(NotFound):
            await hub.decisions.answer(ids[0][:2], "yes")
        assert {one.state for one in await hub.decisions.list()} == {"open"}


async def test_what_nobody_decides_in_time_is_over(tmp_path: Path) -> None:
    clock = ManualClock(start=START)
    async with Hub.open(tmp_path, clock=clock) as hub:
        await hub.agents.create("asker")
        asking = asyncio.ensure_future(hub.acting_as("asker").ask("user", "may I?", timeout=5))
        asked = await open_one(hub)
        await clock.advance(6)
        with pytest.raises(TimedOut, match="did not decide"):
            await asking
        assert (await hub.decisions.get(asked.id)).state == "expired"
        with pytest.raises(Conflict, match="is already expired") as refused:
            await hub.decisions.answer(asked.id, "yes")
        assert "send it as a message" in refused.value.detail
        assert refused.value.fix


async def test_an_answer_that_nobody_awaits_any_more_calls_who_asked(tmp_path: Path) -> None:
    heard: list[str] = []

    @agent("asker")
    async def asker(turn: Any) -> str | None:
        heard.append(turn.text)
        if "ask me" not in turn.text:
            return None
        return f"you said {(await turn.hub.ask('user', 'deploy?', choices=['yes', 'no'], timeout=100)).text}"

    async with Hub.open(tmp_path, agents=[asker]) as hub:
        await hub.send("asker", "ask me")
        asked = await open_one(hub)
        await hub.agents.interrupt("asker")
        waiting = await until(lambda: hub.decisions.get(asked.id), lambda one: one.until is None)
        assert waiting.state == "open", "who was asked may still decide"
        await hub.decisions.answer(asked.id, "yes")
        await until(lambda: asyncio.sleep(0, heard), lambda texts: texts[-1] == "yes")


async def test_an_answer_after_the_hub_was_gone_calls_who_asked(tmp_path: Path) -> None:
    """The process that asked was killed: nobody has said that it gave up."""
    heard: list[str] = []

    @agent("asker")
    async def asker(turn: Any) -> str | None:
        heard.append(turn.text)
        if turn.text == "ask me":
            await turn.hub.ask("user", "deploy?", timeout=1000)
        return None

    dying = Hub.open(tmp_path, agents=[asker])
    hub = await dying.__aenter__()
    await hub.send("asker", "ask me")
    asked = await open_one(hub)
    core = hub._core
    core.parts.store.transact = _unheard(core.parts.store.transact)  # type: ignore[method-assign]
    await dying.__aexit__(None, None, None)
    async with Hub.open(tmp_path) as hub:
        assert (await hub.decisions.get(asked.id)).state == "open"
        await hub.decisions.answer(asked.id, "yes")
    async with Hub.open(tmp_path, agents=[asker]) as hub:
        await until(lambda: asyncio.sleep(0, heard), lambda texts: any("yes" in text for text in texts))


def _unheard(transact: Any) -> Any:
    async def without_giving_up(verb: Any, command: Any) -> Any:
        return None if verb is give_up else await transact(verb, command)

    return without_giving_up


async def test_choices_that_nobody_could_read_are_refused(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[deployer]) as hub:
        for wrong in (["a", "A"], [""], ["x"] * 21):
            with pytest.raises(BadValue):
                await hub.acting_as("deployer").ask("user", "?", choices=wrong, timeout=5)
        assert await hub.decisions.list() == []
