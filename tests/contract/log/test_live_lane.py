"""The live lane: from whoever publishes to whoever watches; bounded, and never in anybody's way."""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from moot.host.presence import MachinePresence
from moot.hub.process.live_lane import SocketLane
from moot.hub.process.peers import Peers
from moot.logs.live import LocalLane
from moot.model.event import Commit, Event, EventType
from moot.model.ids import ConversationId, HostId, ParticipantId
from moot.model.participant import Host
from moot.ports import LiveLane
from moot.testing import ManualClock
from tests.support.waiting import PATIENCE, until

HERE, ARYA = ConversationId("here"), ParticipantId("arya")


def piece(text: str) -> Event:
    body = {"turn": "1", "agent": ARYA, "text": text}
    return Event(EventType.TURN_DELTA, 1.5, conversation=HERE, by=ARYA, body=body)


def nothing() -> None:
    """Not of interest here."""


class Screen:
    """Somebody who watches."""

    def __init__(self, lane: LiveLane) -> None:
        self._shown: asyncio.Queue[Event] = asyncio.Queue()
        lane.watch(self._shown.put_nowait)

    async def shows(self, count: int) -> list[Event]:
        async with asyncio.timeout(PATIENCE):
            return [await self._shown.get() for _ in range(count)]


class Lanes(ABC):
    """Two ends of a lane: one that speaks, one that watches."""

    speaks: LiveLane
    watches: LiveLane

    @abstractmethod
    async def open(self) -> None: ...
    @abstractmethod
    async def close(self) -> None: ...


class OneProcess(Lanes):
    def __init__(self, folder: Path) -> None:
        self.speaks = self.watches = LocalLane()

    async def open(self) -> None: ...
    async def close(self) -> None: ...


class TwoProcesses(Lanes):
    def __init__(self, folder: Path) -> None:
        hosts = [
            Host(HostId(name), 1, (), 9e9, 0.0, str(folder / name), name == "watches")
            for name in ("speaks", "watches")
        ]

        async def known() -> list[Host]:
            return hosts

        people: Any = SimpleNamespace(hosts=known)
        self._peers = [
            Peers(
                Path(host.socket),
                people,
                ManualClock(),
                hinted=nothing,
                lost=nothing,
                presence=MachinePresence(),
            )
            for host in hosts
        ]
        for peers, host in zip(self._peers, hosts, strict=True):
            itself: Any = SimpleNamespace(id=host.id)
            peers.belong_to(itself)
        self.speaks, self.watches = (SocketLane(peers) for peers in self._peers)

    async def open(self) -> None:
        for peers in self._peers:
            await peers.listen()
        self._peers[0].committed(
            Commit([Event(EventType.MESSAGE_POSTED, 0.0)])
        )  # who watches is looked up with this
        await until(self._are_watched, bool)

    async def _are_watched(self) -> bool:
        return self._peers[0].are_watched

    async def close(self) -> None:
        for peers in self._peers:
            await peers.close()


@pytest.fixture(params=[OneProcess, TwoProcesses])
async def lanes(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Lanes]:
    made: Lanes = request.param(tmp_path)
    await made.open()
    yield made
    await made.close()


async def test_what_is_published_is_seen_as_it_was_in_order_and_once(lanes: Lanes) -> None:
    screen = Screen(lanes.watches)
    said = [piece(f"word {n}") for n in range(20)]
    for event in said:
        lanes.speaks.publish(event)
    lanes.speaks.publish(piece("the end"))
    assert await screen.shows(21) == [*said, piece("the end")]


async def test_everybody_who_watches_sees_it_also_where_it_was_published(lanes: Lanes) -> None:
    screens = [Screen(lanes.watches), Screen(lanes.watches), Screen(lanes.speaks)]
    lanes.speaks.publish(piece("hello"))
    for screen in screens:
        assert await screen.shows(1) == [piece("hello")]


async def test_publishing_where_nobody_watches_is_no_trouble(lanes: Lanes) -> None:
    for _ in range(1000):
        lanes.speaks.publish(piece("into the air"))


async def test_what_finds_no_room_on_the_way_to_another_process_is_dropped(tmp_path: Path) -> None:
    lanes = TwoProcesses(tmp_path)
    await lanes.open()
    screen, many = Screen(lanes.watches), 5000
    for _ in range(many):  # without giving the loop to whoever carries or reads
        lanes.speaks.publish(piece("x" * 200))
    seen = await screen.shows(1)
    lanes.speaks.publish(piece("the end"))
    while seen[-1] != piece("the end"):
        seen += await screen.shows(1)
    assert len(seen) < many / 10
    await lanes.close()


async def test_what_makes_no_sense_is_passed_over(tmp_path: Path) -> None:
    lanes = TwoProcesses(tmp_path)
    await lanes.open()
    screen = Screen(lanes.watches)
    lanes._peers[0].send_to_watching({"live": {"kind": "of a later version"}})
    lanes.speaks.publish(piece("still there"))
    assert await screen.shows(1) == [piece("still there")]
    await lanes.close()
