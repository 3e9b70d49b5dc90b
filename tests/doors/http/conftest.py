"""A real server on loopback over a real hub, and clients with the tokens of everybody."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.doors.http.wire import Wire
from tests.doors.http.world import World, opened


@pytest.fixture
async def world(tmp_path: Path) -> AsyncIterator[World]:
    async with opened(tmp_path) as found:
        yield found


@pytest.fixture
async def wire(world: World) -> AsyncIterator[Wire]:
    """The owner, speaking HTTP by hand."""
    found = Wire(world.at.port, world.tokens["owner"])
    yield found
    await found.close()
