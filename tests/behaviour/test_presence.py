"""Hosts that share a home: one that died here is missed at once, one of another machine when its lease ends."""

from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.flow import attach
from moot.host.presence import this_machine
from moot.model.ids import HostId
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.waiting import until

NO_PROCESS = 2**22 + 1
"""A process id that no system gives out."""
FAR = HostId("far")


async def attached(home: Path, clock: ManualClock, machine: str) -> None:
    """A host of arya, written down by somebody whose process cannot be found on this machine."""
    async with Hub.open(home, clock=clock) as hub:
        await hub.agents.create("arya")
        arya = await store_of(hub).participant("arya")
        assert arya is not None
        await store_of(hub).transact(attach, attach.Attach(FAR, NO_PROCESS, (arya.id,), machine=machine))


async def reachability(hub: Hub) -> str:
    return (await hub.agents.get("arya")).reachability


async def test_a_host_of_another_machine_is_present_until_its_lease_ends(tmp_path: Path) -> None:
    clock = ManualClock()
    await attached(tmp_path, clock, "another machine")
    async with Hub.open(tmp_path, clock=clock) as hub:
        assert FAR in [host.id for host in await store_of(hub).hosts()]
        assert await reachability(hub) == "live"
        step = (hub.settings.host.lease_seconds + hub.settings.host.sweep_seconds) / 10

        async def a_little_later() -> list[HostId]:
            """Little by little: who looks much too late takes it for a machine that slept, and looks again."""
            await clock.advance(step)
            return [host.id for host in await store_of(hub).hosts()]

        await until(a_little_later, lambda hosts: FAR not in hosts)
        assert await reachability(hub) == "away"


async def test_whoever_only_reads_takes_it_for_present_too(tmp_path: Path) -> None:
    clock = ManualClock()
    await attached(tmp_path, clock, "another machine")
    async with Hub.reading(tmp_path) as hub:
        assert FAR in [host.id for host in await store_of(hub).hosts()]


@pytest.mark.parametrize("machine", ["", this_machine()], ids=["unknown", "this"])
async def test_a_host_of_this_machine_that_died_is_missed_at_once(tmp_path: Path, machine: str) -> None:
    clock = ManualClock()
    await attached(tmp_path, clock, machine)
    async with Hub.reading(tmp_path) as hub:
        assert FAR not in [host.id for host in await store_of(hub).hosts()]
    async with Hub.open(tmp_path, clock=clock) as hub:
        assert FAR not in [host.id for host in await store_of(hub).hosts()]
        assert await reachability(hub) == "away"


async def test_an_agent_that_came_elsewhere_is_woken_though_nothing_was_told_in_between(
    tmp_path: Path,
) -> None:
    """What was stored meanwhile without an event must not hide that a host has come."""

    @agent("later")
    async def later(turn: Any) -> str:
        return "here"

    async with Hub.open(tmp_path, socket=tmp_path / "run" / "hub.sock") as hub:
        await hub.agents.create("later")
        await hub.conversations.create("room", participants=["later"])
        await hub.settled()
        async with Hub.open(tmp_path, agents=[later]):
            await hub.preview("room", "@later are you there?")
            await hub.post("room", "@later are you there?")
            said = await until(lambda: hub.messages("room"), lambda found: len(found) > 1)
            assert said[1].text == "here"
