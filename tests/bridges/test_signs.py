"""Signs that somebody is at work: as long as a turn runs, once for each chat, and no longer."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot import Hub
from moot.model.event import EventType
from moot.shapes import Event
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, MemoryWorld
from tests.support.waiting import until

pytestmark = pytest.mark.req("G-13")


@pytest.fixture
async def stage(tmp_path: Path) -> AsyncIterator[Stage]:
    async with Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub:
        made = Stage(hub, MemoryWorld())
        await made.connect()
        try:
            yield made
        finally:
            await made.disconnect()


def event(kind: str, where: str, **body: object) -> Event:
    return Event(id=None, type=kind, at=None, conversation=where, by="writer", body=body)


@pytest.mark.parametrize("ending", [EventType.TURN_FINISHED, EventType.TURN_OWED, EventType.TURN_HELD])
async def test_a_turn_is_shown_once_and_until_it_ends_or_goes_back(stage: Stage, ending: str) -> None:
    chat, where = await stage.group()
    worker = stage.worker
    for _ in range(2):  # one whose lease ran out begins again
        await worker.on_event(event(EventType.TURN_STARTED, where, id="7", agent="writer"))
    assert worker.signs.shown == {"7": 1}
    await until(lambda: typed(stage, chat), bool)
    await worker.on_event(event(ending, where, id="7", agent="writer"))
    assert worker.signs.shown == {}


async def test_a_turn_elsewhere_is_not_shown(stage: Stage) -> None:
    await stage.group()
    await stage.worker.on_event(event(EventType.TURN_STARTED, "c-other", id="7", agent="writer"))
    assert stage.worker.signs.shown == {}


async def test_pieces_that_come_twice_or_late_stand_where_they_belong(stage: Stage) -> None:
    _, where = await stage.group()
    worker = stage.worker
    await worker.on_event(event(EventType.TURN_STARTED, where, id="7", agent="writer"))
    for text, offset in (("one ", 0), ("two", 4), ("two", 4)):
        await worker.on_event(event(EventType.TURN_DELTA, where, turn="7", text=text, offset=offset))
    assert worker.signs.text_of("7") == "one two"
    await worker.on_event(event(EventType.TURN_DELTA, where, turn="8", text="of no turn here", offset=0))
    assert worker.signs.text_of("8") == ""


async def typed(stage: Stage, chat: str) -> list[str]:
    return stage.world.typed(chat)
