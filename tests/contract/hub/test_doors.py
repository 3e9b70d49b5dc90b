"""An outside agent is told the same and may do the same, by whichever door it came in."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.cli.run.doors import open_doors
from moot.settings import Home
from tests.contract.hub.conftest import TOML, arya, broken, quiet
from tests.contract.hub.talkers import WAYS, Talker, talker
from tests.support.waiting import PATIENCE, until


class Meeting:
    """x came in by the way under test; y is beside it, and the owner looks on."""

    def __init__(self, here: Hub, x: Talker) -> None:
        self.here = here
        self.x = x
        self.y = here.acting_as("y")


Meet = Callable[[], AbstractAsyncContextManager[Meeting]]


@pytest.fixture(params=WAYS)
def way(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def meet(way: str, tmp_path: Path) -> Meet:
    """Entered and left in the test itself: an MCP client wants one task for both."""

    @asynccontextmanager
    async def meeting() -> AsyncIterator[Meeting]:
        (tmp_path / "moot.toml").write_text(TOML)
        home = Home(tmp_path)
        async with Hub.open(tmp_path, agents=[arya, quiet, broken], socket=home.hub_sock) as here:
            for name in ("x", "y"):
                await here.agents.create(name, external=True)
            async with (
                open_doors(here, home, {"instance": "i1", "started_at": None}) as at,
                talker(way, here, at.url, home, "x") as x,
            ):
                yield Meeting(here, x)

    return meeting


@pytest.mark.req("J-02", "J-05")
async def test_two_agents_talk(meet: Meet) -> None:
    async with meet() as met:
        assert {"x", "y", "arya"} <= await met.x.agents()
        sent = await met.x.send("y", "which port?")
        [asked] = (await met.y.mailbox.check(handed=())).messages
        assert (asked.id, asked.sender, asked.kind, asked.hop) == (sent, "x", "external", 0)
        answer = await met.y.mailbox.reply(asked.id, "5173")
        assert answer is not None
        [heard] = await met.x.handed()
        assert (heard["from"], heard["text"], heard["reply_to"], heard["root"], heard["hop"]) == (
            "y",
            "5173",
            sent,
            asked.root,
            1,
        )
        assert await met.x.must_answer() == ()
        assert await met.x.handed() == []


@pytest.mark.req("J-02")
async def test_who_must_answer_is_told_and_silence_is_an_answer(meet: Meet) -> None:
    async with meet() as met:
        first = await met.here.send("x", "well?")
        assert [message["id"] for message in await met.x.handed()] == [first.id]
        assert await met.x.must_answer() == (first.id,)
        assert await met.x.reply(first.id, "well") is True
        second = await met.here.send("x", "thanks")
        assert [message["id"] for message in await met.x.handed()] == [second.id]
        assert await met.x.reply(second.id, "[PASS]") is False
        states = [turn.state for turn in await met.here.turns(agent="x")]
        assert states == ["said", "passed"]


async def test_a_wait_ends_with_what_comes(meet: Meet) -> None:
    async with meet() as met:
        waiting = asyncio.ensure_future(met.x.handed(PATIENCE))
        await until(lambda: met.here.agents.get("x"), lambda who: who.reachability == "live")
        sent = await met.here.send("x", "now")
        assert [message["id"] for message in await asyncio.wait_for(waiting, PATIENCE)] == [sent.id]


async def test_a_group_is_read_spoken_in_and_searched(meet: Meet) -> None:
    async with meet() as met:
        await met.here.conversations.create("room", participants=["x", "arya", "quiet"])
        said = await met.x.post("room", "the plan, @arya")
        await met.here.settled("room", timeout=40)
        assert await met.x.read("room") == [("x", "the plan, @arya"), ("arya", "arya heard the plan, arya")]
        assert said in await met.x.found("plan")
        assert (await met.x.why(said))["arya"] == "answered"


@pytest.mark.req("P-06")
async def test_what_is_not_its_own_is_not_there(meet: Meet, way: str) -> None:
    async with meet() as met:
        await met.here.conversations.create("secret", participants=["arya"])
        hidden = await met.here.post("secret", "a secret")
        assert hidden.id not in await met.x.found("secret")
        if way in ("http", "mcp"):
            assert await met.x.refusal("secret") == await met.x.refusal("nowhere") == "E201"


async def test_nobody_of_that_name_is_written_to(meet: Meet) -> None:
    async with meet() as met:
        before = len(await met.here.conversations.list())
        assert await met.x.send("nobody", "hello") == ""
        assert len(await met.here.conversations.list()) == before


@pytest.mark.parametrize(
    ("target", "outcome"),
    [("arya", "arya heard well?"), ("quiet", "passed"), ("broken", "failed"), ("y", "timed_out")],
)
async def test_a_question_has_four_outcomes(meet: Meet, target: str, outcome: str) -> None:
    async with meet() as met:
        assert await met.x.ask(target, "well?", 0.3 if target == "y" else PATIENCE) == outcome


@pytest.mark.req("J-04")
async def test_the_limits_between_two_agents_hold(meet: Meet) -> None:
    async with meet() as met:
        sent: list[Any] = [await met.x.send("y", f"message {n}") for n in range(11)]
        assert [bool(one) for one in sent] == [True] * 10 + [False]
