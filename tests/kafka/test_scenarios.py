"""The floor scenarios on PostgreSQL, told to a real broker: what a conversation went through is told in its order."""

from collections import defaultdict
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from moot.logs.kafka.address import Brokers
from moot.logs.kafka.cluster import Cluster
from moot.logs.kafka.outlet import NotTaken, Outlet
from moot.logs.kafka.places import Places
from moot.logs.kafka.relay import Relay
from moot.model.ids import HostId
from tests.scenarios.test_floor import SCENARIOS, play_all, title, world_of
from tests.support.kafka import broker, fresh_prefix
from tests.support.relaying import relayed
from tests.support.topics import once
from tests.support.world import World

FLOOR = [scenario for scenario in SCENARIOS if "floor" in scenario]


class NotedOutlet(Outlet):
    """As any, and what it was given is kept."""

    def __init__(self, brokers: Brokers) -> None:
        super().__init__(brokers)
        self.published: list[tuple[str, str, bytes]] = []

    async def publish(self, records: Sequence[tuple[str, str, bytes]]) -> list[NotTaken | None]:
        self.published += records
        return await super().publish(records)


class WorldClock:
    def __init__(self, world: World) -> None:
        self._world = world

    def now(self) -> float:
        return self._world.now

    async def sleep_until(self, moment: float) -> None:
        raise AssertionError("nothing sleeps here")


@pytest.fixture(scope="module")
def outside() -> Iterator[tuple[Cluster, NotedOutlet]]:
    """One for all: a new producer takes half a second for its first record."""
    brokers = Brokers(broker().address)
    cluster = Cluster(brokers)
    yield cluster, NotedOutlet(brokers)
    cluster.close()


@pytest.mark.req("K-05", "K-15")
@pytest.mark.parametrize("scenario", FLOOR, ids=title)
async def test_scenario(
    scenario: dict[str, Any], tmp_path: Path, outside: tuple[Cluster, NotedOutlet]
) -> None:
    cluster, outlet = outside
    outlet.published.clear()
    world = world_of(scenario, "postgresql", tmp_path)
    world.source.has_outbox = True
    await world.open()
    try:
        await play_all(world, scenario)
        places = Places(world.store, cluster, fresh_prefix())
        relay = Relay(
            world.store,
            WorldClock(world),
            outlet,
            places,
            trial=outlet,
            host=HostId("h"),
            instance=await world.store.instance(),
        )
        while await relayed(relay):
            pass
        assert await world.store.unpublished(1) == []
        told = defaultdict(list)
        for _, where, value in once(outlet.published):
            record = json.decode(value)
            if record["action"] in ("append", "tool_result", "system_message"):
                told[where].append(record["seq"])
        for where, seqs in told.items():
            found = await world.store.conversation(where)
            assert seqs == list(range(1, found.head + 1)), where
    finally:
        await world.close()
