"""Order is `seq`, never the clock: a clock that jumps back and forth while people write changes no order."""

import random
from pathlib import Path

import pytest

from moot.model.conversation import GroupSettings
from moot.model.limits import Limits
from moot.ports import Page
from moot.rules import audit
from tests.support.processes import SCALE, seed_of_this_run
from tests.support.world import START, World

DAY = 86_400.0


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
async def test_messages_keep_their_order_whatever_the_clock_says(tmp_path: Path, backend: str) -> None:
    chance = random.Random(seed_of_this_run())
    world = World(backend, tmp_path, GroupSettings(), Limits())
    await world.open()
    await world.enrol([], [], [])
    await world.make("room", [], "group", {})
    for n in range(100 * SCALE):
        world.now = START + chance.choice([0.0, -DAY, DAY, -START + 1.0]) + chance.random()
        receipt = await world.post("room", "user", f"number {n + 1}", key=f"k{n}")
        assert receipt.seq == n + 1
        again = await world.post("room", "user", f"number {n + 1}", key=f"k{n}")
        assert (again.seq, again.replayed) == (n + 1, True)
    where = world.where["room"]
    newest = await world.store.messages(where, Page(limit=10, newest=True))
    assert [message.seq for message in newest] == list(range(100 * SCALE - 9, 100 * SCALE + 1))
    messages = await world.messages("room")
    assert [message.text for message in messages] == [f"number {n + 1}" for n in range(100 * SCALE)]
    events = await world.store.events(after=0, types=("message.posted",), limit=10_000)
    assert [event.seq for event in events] == [message.seq for message in messages]
    known = await world.conversation_now("room")
    assert audit.verify(messages, [], known.chain, known.chain_length) is None
    await world.close()
