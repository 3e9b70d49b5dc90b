"""A host that is stopped beyond its lease and goes on: its turns are taken from it, and answered once all the same."""

import asyncio
import signal
from pathlib import Path

import pytest
from msgspec import json

from moot.hub import Hub
from moot.model.turn import OPEN, TurnState
from tests.support.beneath import store_of
from tests.support.clocks import SharedClock
from tests.support.processes import SCALE, end, kept_on_failure, start, stop, tell
from tests.support.waiting import until

LEASE = 30.0
"""So long that no host loses it because the machine is busy: the second time its turn would fail. While all of them are
stopped the clock is put forward, step by step, as one that leaps would tell the hub that the machine had slept."""
STEP_SECONDS = 0.5
HOSTS = 10
PAUSES = 20 * SCALE
"""Of each host."""


def made(home: Path) -> Path:
    home.mkdir()
    (home / "moot.toml").write_text(
        f"[host]\nlease_seconds = {LEASE}\nsweep_seconds = 1.0\n", encoding="utf-8"
    )
    return home


async def turns(hub: Hub, count: int, *states: TurnState) -> None:
    """Until there are so many in these states."""
    store = store_of(hub)
    await until(lambda: store.turns(states=states), lambda found: len(found) == count)


async def until_lost(hub: Hub, clock: SharedClock) -> None:
    """Until every running turn is taken from its host."""

    async def running() -> int:
        clock.put_forward(STEP_SECONDS)
        return len(await store_of(hub).turns(states=(TurnState.RUNNING,)))

    await until(running, lambda count: not count)


async def pause(hub: Hub, clock: SharedClock, home: Path, children: list[int], text: str) -> None:
    """Ask every agent, stop every host in mid-turn until its turn is taken from it, and let them go on."""
    await asyncio.gather(*(hub.send(f"a{n}", text) for n in range(len(children))))
    await turns(hub, len(children), TurnState.RUNNING)
    await stop(children, home)
    await until_lost(hub, clock)
    (home / text).touch()
    tell(children, signal.SIGCONT)
    await turns(hub, 0, *OPEN)


async def said(hub: Hub, agent: str) -> list[tuple[str, str]]:
    [conversation] = {turn.conversation for turn in await hub.turns(agent=agent)}
    return [(m.sender, m.text) for m in await hub.messages(conversation, limit=1000)]


@pytest.mark.alone
@pytest.mark.timeout(300 * SCALE)
async def test_hosts_stopped_beyond_their_lease_answer_every_turn_once(tmp_path: Path) -> None:
    home = made(tmp_path / "home")
    async with Hub.open(home):
        pass  # the home is made by one, before many come
    clock = SharedClock(home / "clock")
    family = start("tests.faults.stopped", str(home), str(HOSTS))
    assert family.stdout is not None
    children = json.decode(family.stdout.readline(), type=list[int])
    try:
        assert family.stdout.readline() == b"ready\n"
        with kept_on_failure("pauses", home):
            async with Hub.open(home, clock=clock) as hub:
                texts = [f"number-{n}" for n in range(PAUSES)]
                for text in texts:
                    await pause(hub, clock, home, children, text)
                for name in [f"a{n}" for n in range(HOSTS)]:
                    answers = [(("user", text), (name, f"heard {text}")) for text in texts]
                    assert await said(hub, name) == [one for pair in answers for one in pair]
    finally:
        tell(children, signal.SIGCONT)
        tell(children, signal.SIGKILL)
        end(family)
