"""The contract runs once for each place; a test asks for `place`, or for a `store` opened there."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.contract.store.places import PLACES, Place, WholeStore


@pytest.fixture(params=PLACES)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    place = PLACES[request.param](tmp_path)
    yield place
    await place.close()


@pytest.fixture
async def store(place: Place) -> WholeStore:
    return await place.open()


@pytest.fixture
def durable(place: Place) -> None:
    """For promises that only a real database gives."""
    if not place.durable:
        pytest.skip("keeps nothing on disk")
