"""What is read from topics, and what of it is kept where it makes no sense."""

import asyncio
from typing import Any

import pytest

from moot.logs.kafka import wakes as wakes_module
from moot.logs.kafka.address import Brokers
from moot.logs.kafka.places import Places
from moot.logs.kafka.reader import ReceivedRecord
from moot.logs.kafka.wakes import MAX_TO_PARK, Wakes
from moot.model.limits import Terms
from moot.model.records.dead_letter import DEAD_LETTERS
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.testing import ManualClock, MemoryStore
from tests.support.waiting import until


class OneByOne(MemoryStore):
    """Sees how many write at once."""

    writing = most = 0

    async def transact(self, *arguments: Any) -> Any:
        self.writing += 1
        self.most = max(self.most, self.writing)
        try:
            await asyncio.sleep(0)
            return await super().transact(*arguments)
        finally:
            self.writing -= 1


async def test_a_topic_full_of_nonsense_takes_one_write_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wakes_module, "PARK_SECONDS", 0.0)
    clock, anything = ManualClock(), Brokers("127.0.0.1:1")
    store = OneByOne(Source(clock.now, Terms(), ConversationIds(clock.now)))
    places: Any = Places(store, None, "")  # type: ignore[arg-type]
    wakes = Wakes(store, anything, places, instance="i1", look=lambda event: None)
    try:
        wakes._take([ReceivedRecord("agent-arya", 0, n, b"nonsense") for n in range(10 * MAX_TO_PARK)])
        await until(lambda: store.records(DEAD_LETTERS.all()), lambda found: len(found) == MAX_TO_PARK)
        assert store.most == 1
        assert wakes.unreadable == 10 * MAX_TO_PARK
        wakes._take([ReceivedRecord("agent-arya", 0, 5000, b"nonsense")])
        await until(lambda: store.records(DEAD_LETTERS.all()), lambda found: len(found) == MAX_TO_PARK + 1)
    finally:
        await wakes.close()
