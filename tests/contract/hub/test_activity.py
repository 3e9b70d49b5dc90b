"""What agents are doing, told live: from whichever process runs them to whoever watches, and by whichever way."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub, agent
from moot.model.prompt import ToolCall, ToolResult, ToolSpec
from tests.contract.hub.conftest import TOML, reached
from tests.support.waiting import PATIENCE, until


class Ruler:
    spec = ToolSpec("ruler", "measures", {"type": "object"})

    async def run(self, arguments: dict[str, Any], turn: Any) -> ToolResult:
        return ToolResult("12 cm")


@agent("worker")
async def worker(turn: Any) -> str:
    if "pass" in turn.text:
        return PASS
    if "fail" in turn.text:
        raise RuntimeError("words of a conversation")
    await turn.use(Ruler(), ToolCall("c1", "ruler", "{}"), answer=0, said="")
    await turn.say("it is ")
    return "12 cm"


@pytest.fixture(params=["this process", "another"])
def hosted_in(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
async def hub(way: str, hosted_in: str, tmp_path: Path) -> AsyncIterator[Any]:
    """A hub, and an agent that it runs itself, or that another process on the same home runs."""
    (tmp_path / "moot.toml").write_text(TOML)
    mine = [worker] if hosted_in == "this process" else []
    async with (
        Hub.open(tmp_path, agents=mine, socket=tmp_path / "run" / "hub.sock") as here,
        Hub.open(tmp_path, agents=[] if mine else [worker]),
        reached(way, here, tmp_path) as there,
    ):
        yield there


class Screen:
    """Somebody who watches what agents do."""

    def __init__(self, hub: Any) -> None:
        self.shown: asyncio.Queue[Any] = asyncio.Queue()
        self._hub = hub
        self._watching = asyncio.create_task(self._watch())

    async def _watch(self) -> None:
        async for event in self._hub.events(types=("agent.activity",), agent="worker"):
            self.shown.put_nowait(event)

    async def begin(self) -> None:
        """Until it sees something, and all of that is over: whoever begins to watch too late sees the next time.

        What it sees may come after the turn has settled, and so may be of several turns: the last one passes, which no
        other does, and whatever is shown of those before stands before that."""
        for _ in range(20):
            await self._hub.post("room", "@worker measure it")
            await self._hub.settled("room", timeout=40)
            if not self.shown.empty():
                break
        await self._hub.post("room", "@worker pass")
        await self.until("passed")

    async def until_rest(self) -> list[Any]:
        """What is shown of one turn."""
        found: list[Any] = []
        async with asyncio.timeout(PATIENCE):
            while not found or found[-1].body["status"] == "streaming":
                found.append(await self.shown.get())
        return found

    async def until(self, ending: str) -> list[Any]:
        """What is shown of the next turn that ends so. What is told late of one before it is read late too, and then
        says how the newest has ended: that of the last turn may stand there twice."""
        while (found := await self.until_rest())[-1].body["activity"]["state"] != ending:
            pass
        return found

    async def close(self) -> None:
        self._watching.cancel()
        await asyncio.gather(self._watching, return_exceptions=True)


@pytest.fixture
async def screen(hub: Any) -> AsyncIterator[Screen]:
    await hub.conversations.create("room", participants=["worker"])
    made = Screen(hub)
    await made.begin()
    yield made
    await made.close()


@pytest.mark.req("J-01")
async def test_what_an_agent_does_is_told_step_by_step(hub: Any, screen: Screen) -> None:
    await hub.post("room", "@worker measure it")
    told = await screen.until("idle")
    assert [(one.body["activity"]["state"], one.body["activity"]["label"]) for one in told] == [
        ("thinking", "thinking"),
        ("tool", "running ruler"),
        ("thinking", "thinking"),
        ("streaming", "writing"),
        ("idle", "idle"),
    ]
    assert [one.body["status"] for one in told] == ["streaming"] * 4 + ["idle"]
    assert {(one.id, one.type, one.by, one.conversation) for one in told} == {
        (None, "agent.activity", "worker", None)
    }
    assert all(one.at and one.body["activity"]["since"] for one in told)
    agent = (await hub.agents.get("worker")).to_dict()
    assert told[-1].body.keys() == agent.keys() - {"brain"}


async def test_what_came_of_a_turn_is_told_when_it_ends(hub: Any, screen: Screen) -> None:
    await hub.post("room", "@worker pass")
    *before, last = [one.body["activity"]["state"] for one in await screen.until("passed")]
    assert (set(before), last) == ({"thinking"}, "passed")
    await hub.post("room", "@worker fail")
    told = await screen.until("error")
    assert "words of a conversation" not in str(told), "everybody gets the same event"


async def test_nothing_of_it_is_stored(tmp_path: Path) -> None:
    (tmp_path / "moot.toml").write_text(TOML)
    async with Hub.open(tmp_path, agents=[worker]) as hub:
        await hub.conversations.create("room", participants=["worker"])
        screen = Screen(hub)
        await screen.begin()
        await screen.close()
        stored = await hub._core.parts.store.events(after=0, limit=10_000)
        assert "turn.started" in {event.type for event in stored}
        assert "agent.activity" not in {event.type for event in stored}


async def test_who_speaks_in_another_process_is_said_to_be_writing(tmp_path: Path) -> None:
    """The store says that its turn runs, and the lane that words have come."""
    (tmp_path / "moot.toml").write_text(TOML)
    spoken, go_on = asyncio.Event(), asyncio.Event()

    @agent("speaker")
    async def speaker(turn: Any) -> str:
        await turn.say("one ")
        spoken.set()
        await go_on.wait()
        return "two"

    async with (
        Hub.open(tmp_path, socket=tmp_path / "run" / "hub.sock") as hub,
        Hub.open(tmp_path, agents=[speaker]),
    ):
        await hub.conversations.create("room", participants=["speaker"])
        await hub.post("room", "@speaker go")
        await asyncio.wait_for(spoken.wait(), PATIENCE)

        async def label() -> str:
            return str((await hub.agents.get("speaker")).activity["label"])

        await until(label, lambda told: told == "writing")
        go_on.set()
        await hub.settled("room", timeout=40)
        await until(label, lambda told: told == "idle")
