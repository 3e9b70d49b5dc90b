"""The contract runs once for each log and store; `shared` only where several writers give ids at once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.log.places import PLACES, Place


@pytest.fixture(params=PLACES)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    place = await Place(*PLACES[request.param], tmp_path).open()
    yield place
    await place.close()


@pytest.fixture(params=[name for name, (_, store) in PLACES.items() if store == "late"])
async def shared(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    place = await Place(*PLACES[request.param], tmp_path).open()
    yield place
    await place.close()
