"""Hubs on several machines over one PostgreSQL: each has a home and a moot.toml of its own."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.brains.code import AgentSpec
from moot.host.presence import MachinePresence
from moot.model.ids import ConversationId
from moot.model.records.share import CONFIG, SHARES, group_of, part_of
from tests.support.beneath import store_of
from tests.support.postgres import empty_database
from tests.support.waiting import until

pytestmark = pytest.mark.req("K-12")

ROOMS = 12
PARTS = 4


class Machines:
    """Each hub that is opened here believes to be on a machine of its own."""

    def __init__(self, folder: Path, url: str) -> None:
        self._folder = folder
        self._url = url
        self.names: Iterator[str] = iter(())

    @asynccontextmanager
    async def hub(
        self, name: str, *agents: AgentSpec, toml: str = "", is_hub: bool = False
    ) -> AsyncIterator[Hub]:
        home = self._folder / name
        home.mkdir(exist_ok=True)
        (home / "moot.toml").write_text(f'{toml}\n[store]\nurl = "{self._url}"\n', encoding="utf-8")
        self.names = iter([name])
        socket = home / "run" / "hub.sock" if is_hub else None
        async with Hub.open(home, agents=agents, socket=socket) as hub:
            yield hub


@pytest.fixture
async def machines(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machines:
    found = Machines(tmp_path, await empty_database())
    monkeypatch.setattr("moot.wiring.MachinePresence", lambda: MachinePresence(next(found.names)))
    return found


def instance(place: str) -> AgentSpec:
    """arya as she runs in one place; she says where."""

    @agent("arya", partitions=PARTS)
    async def arya(turn: Any) -> str:
        return place

    return arya


async def parts_of(hub: Hub) -> dict[str, set[int]]:
    """Parts by the host that holds them."""
    found: dict[str, set[int]] = {}
    for share in await store_of(hub).records(SHARES.where(grp=group_of((await _arya(hub)).id))):
        found.setdefault(share.host, set()).add(share.part)
    return found


async def _arya(hub: Hub) -> Any:
    return await store_of(hub).participant("arya")


async def shared_out(hub: Hub, hosts: int) -> None:
    """Until every part has a holder, and they have about as many each."""
    await until(
        lambda: parts_of(hub),
        lambda parts: len(parts) == hosts and all(len(some) == PARTS // hosts for some in parts.values()),
    )


async def say_everywhere(hub: Hub, rooms: list[str], text: str) -> dict[str, str]:
    """By room, what arya answered."""
    await asyncio.gather(*(hub.post(room, f"@arya {text}") for room in rooms))
    await asyncio.gather(*(hub.settled(room, timeout=40) for room in rooms))
    return {room: (await hub.messages(room))[-1].text for room in rooms}


async def test_pieces_of_a_reply_reach_a_hub_on_another_machine(machines: Machines) -> None:
    heard: list[str] = []

    @agent("arya")
    async def arya(turn: Any) -> str:
        await turn.say("one moment, ")
        return "done"

    async with machines.hub("far", arya), machines.hub("near") as hub:
        await hub.conversations.create("room", participants=["arya"])

        async def listen() -> None:
            async for event in hub.events(conversation="room", types=("turn.delta",)):
                heard.append(event.body["text"])  # noqa: PERF401  they come one by one

        listening = asyncio.create_task(listen())
        await hub.settled("room")

        async def asked() -> list[str]:
            """What is lost is lost: whoever has just begun to watch may miss the first."""
            await hub.post("room", "@arya hello")
            await hub.settled("room", timeout=40)
            return heard

        await until(asked, lambda found: "one moment, " in found)
        listening.cancel()


async def test_a_conversation_stays_with_one_instance_and_moves_when_it_goes(machines: Machines) -> None:
    async with machines.hub("one", instance("one")) as hub:
        rooms = [f"room-{number}" for number in range(ROOMS)]
        for room in rooms:
            await hub.conversations.create(room, participants=["arya"])
        assert set((await say_everywhere(hub, rooms, "first")).values()) == {"one"}
        async with machines.hub("two", instance("two")):
            await shared_out(hub, hosts=2)
            second = await say_everywhere(hub, rooms, "second")
            third = await say_everywhere(hub, rooms, "third")
            assert second == third
            assert set(third.values()) == {"one", "two"}
            ids = {each.name: ConversationId(each.id) for each in await hub.conversations.list()}
            places = {part_of(ids[room], PARTS): place for room, place in third.items()}
            assert third == {room: places[part_of(ids[room], PARTS)] for room in rooms}
        await shared_out(hub, hosts=1)
        assert set((await say_everywhere(hub, rooms, "fourth")).values()) == {"one"}


async def test_two_processes_on_one_home_share_an_agent_too(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[instance("one")]) as hub:
        rooms = [f"room-{number}" for number in range(ROOMS)]
        for room in rooms:
            await hub.conversations.create(room, participants=["arya"])
        async with Hub.open(tmp_path, agents=[instance("two")]):
            await shared_out(hub, hosts=2)
            first = await say_everywhere(hub, rooms, "first")
            assert await say_everywhere(hub, rooms, "second") == first
            assert set(first.values()) == {"one", "two"}
        await shared_out(hub, hosts=1)
        assert set((await say_everywhere(hub, rooms, "third")).values()) == {"one"}


async def test_an_agent_is_there_as_long_as_one_instance_is(machines: Machines) -> None:
    async with machines.hub("one", instance("one")) as hub:
        async with machines.hub("two", instance("two")):
            pass
        assert (await hub.agents.get("arya")).reachability == "live"
    async with machines.hub("two", instance("two")) as hub:
        async with machines.hub("one", instance("one")):
            pass
        assert (await hub.agents.get("arya")).reachability == "live"
        events = [e async for e in _told(hub)]
        assert [e.body["status"] for e in events if e.type == "agent.status"][-1] == "idle"


async def _told(hub: Hub) -> AsyncIterator[Any]:
    for event in await store_of(hub).events(after=0):
        yield event


LINKED = '[[agents]]\nname = "arya"\n[[agents]]\nname = "gendry"\n[[agents]]\nname = "sansa"\n'


async def pairs(hub: Hub) -> set[tuple[str, str]]:
    return {(link.sender, link.to) for link in await hub.links.list()}


async def test_the_moot_toml_of_one_hub_rules_and_another_takes_over(machines: Machines) -> None:
    first = LINKED + '[[links]]\nfrom = "arya"\nto = "gendry"\n'
    other = LINKED + '[[links]]\nfrom = "arya"\nto = "sansa"\n'
    async with AsyncExitStack() as later, AsyncExitStack() as sooner:
        one = await sooner.enter_async_context(machines.hub("one", toml=first, is_hub=True))
        assert await pairs(one) == {("arya", "gendry")}
        two = await later.enter_async_context(machines.hub("two", toml=other, is_hub=True))
        assert await pairs(two) == {("arya", "gendry")}
        [trouble] = (await two.reload()).troubles
        assert "the moot.toml of another hub" in trouble
        assert "/one)" in trouble
        async with machines.hub("three", toml=other):
            assert await pairs(two) == {("arya", "gendry")}, "a program that looks in rules nothing"
        await sooner.aclose()
        await until(lambda: pairs(two), lambda found: found == {("arya", "sansa")})
        [share] = await store_of(two).records(SHARES.where(grp=CONFIG))
        assert share.fence == 2
