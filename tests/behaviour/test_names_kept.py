"""Names that a hub keeps in memory."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.model.participant import Participant
from tests.support.waiting import PATIENCE


@pytest.mark.req("J-01")
async def test_a_slow_look_at_the_registry_does_not_undo_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Hub.open(tmp_path) as hub:
        store: Any = hub._core.parts.store
        read, has_read, go_on = store.participants, asyncio.Event(), asyncio.Event()

        async def slowly() -> list[Participant]:
            found: list[Participant] = await read()
            has_read.set()
            await go_on.wait()
            return found

        with monkeypatch.context() as patch:
            patch.setattr(store, "participants", slowly)
            slow = asyncio.create_task(hub._core.directory.refresh())
            await asyncio.wait_for(has_read.wait(), PATIENCE)
        await hub.agents.create("late", external=True)
        go_on.set()
        await slow
        assert hub.acting_as("late").name == "late"
