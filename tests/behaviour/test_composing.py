"""Who puts a group together: what a person composes is a permission, what an agent composes is none."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import NotPermitted
from tests.support.waiting import PATIENCE

NAMES = ("a", "b", "c", "d")


@pytest.fixture
def heard() -> list[tuple[str, str]]:
    return []


@pytest.fixture
async def hub(tmp_path: Path, heard: list[tuple[str, str]]) -> AsyncIterator[Hub]:
    def listening(name: str) -> Any:
        @agent(name)
        async def think(turn: Any) -> str:
            heard.append((name, turn.text))
            return "[PASS]"

        return think

    (tmp_path / "moot.toml").write_text('[hub]\npolicy = "links"\n')
    async with Hub.open(tmp_path, agents=[listening(name) for name in NAMES]) as hub:
        yield hub


async def names(hub: Hub) -> list[str]:
    return sorted(each.name for each in await hub.conversations.list())


@pytest.mark.req("S-02", "S-03")
async def test_an_agent_makes_no_conversation_with_whom_it_may_not_write_to(hub: Hub) -> None:
    a, before = hub.acting_as("a"), await names(hub)
    ways: tuple[Callable[[], Awaitable[object]], ...] = (
        lambda: a.conversations.create("sneak", participants=["b"]),
        lambda: a.conversations.create("pair", participants=["b"], kind="direct"),
        lambda: a.conversations.create("short", participants=["b"], kind="ephemeral"),
        lambda: a.conversations.ephemeral("b"),
        lambda: a.conversations.implicit(["b"]),
        lambda: a.conversations.implicit(["b", "c"]),
    )
    for way in ways:
        with pytest.raises(NotPermitted, match="a and b are not linked") as refused:
            await way()
        assert refused.value.facts["rule"] == "link"
    assert await names(hub) == before


@pytest.mark.req("S-02", "S-03")
async def test_an_agent_brings_nobody_in_whom_the_graph_keeps_apart(hub: Hub) -> None:
    await hub.links.create("a", "c")
    await hub.conversations.create("team", participants=["a", "b"])
    a, c = hub.acting_as("a").conversations, hub.acting_as("c").conversations
    with pytest.raises(NotPermitted, match="a and d are not linked"):
        await a.join("team", "d")
    with pytest.raises(NotPermitted, match="c and b are not linked"):  # whom a may write to, and b may not
        await a.join("team", "c")
    with pytest.raises(NotPermitted, match="c and b are not linked"):
        await c.join("team", "c")
    with pytest.raises(NotPermitted, match="c and b are not linked"):
        await a.create("team", participants=["c"], exist_ok=True)
    await hub.conversations.join("team", "c")  # a person may
    assert {seat.name for seat in (await hub.conversations.get("team")).participants} >= {"a", "b", "c"}


@pytest.mark.req("S-02", "S-03")
async def test_in_a_group_that_an_agent_made_links_bind_everybody(
    hub: Hub, heard: list[tuple[str, str]]
) -> None:
    for other in ("b", "c"):
        await hub.links.create("a", other)
    made = await hub.acting_as("a").conversations.create("ours", participants=["b", "c"])
    assert made.settings["links_bind"] is True
    await hub.acting_as("b").post("ours", "@c @a over here")
    await hub.settled("ours")
    assert [name for name, text in heard if "over here" in text] == ["a"]
    for setting in ("links_bind", "agents_may_invite"):
        with pytest.raises(NotPermitted, match="only people may set"):
            await hub.acting_as("b").conversations.configure("ours", **{setting: setting != "links_bind"})
    with pytest.raises(NotPermitted, match="only people may set"):
        await hub.acting_as("a").conversations.create(
            "freely", participants=["b"], settings={"links_bind": False}
        )
    await hub.conversations.configure("ours", links_bind=False)
    await hub.acting_as("b").post("ours", "@c and now?")
    await hub.settled("ours")
    assert ("c" in [name for name, text in heard if "and now?" in text]) is True


@pytest.mark.req("S-02", "S-03")
async def test_of_a_one_way_link_only_the_one_end_makes_a_group(hub: Hub) -> None:
    await hub.links.create("a", "b", direction="one_way")
    with pytest.raises(NotPermitted, match="only a may start"):
        await hub.acting_as("b").conversations.create("up", participants=["a"])
    await hub.acting_as("a").conversations.create("down", participants=["b"])


async def test_a_group_is_refused_in_the_turn_that_tried_it_too(tmp_path: Path) -> None:
    refusals, heard = list[str](), list[str]()
    ended = asyncio.Event()

    @agent("a")
    async def sneaking(turn: Any) -> str:
        for way in (turn.hub.conversations.create("sneak", participants=["b"]), turn.hub.send("b", "psst")):
            try:
                await way
            except NotPermitted as refusal:
                refusals.append(refusal.title)
        ended.set()
        return "tried"

    @agent("b")
    async def listening(turn: Any) -> None:
        heard.append(turn.text)

    (tmp_path / "moot.toml").write_text('[hub]\npolicy = "links"\n')
    async with Hub.open(tmp_path, agents=[sneaking, listening]) as hub:
        await hub.send("a", "go")
        await asyncio.wait_for(ended.wait(), PATIENCE)
        assert refusals == ["a and b are not linked"] * 2
        assert heard == []
