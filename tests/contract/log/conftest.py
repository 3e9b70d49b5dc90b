"""The contract runs once for each log and store; `shared` only where several writers give ids at once."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot.logs.kafka import wakes
from tests.contract.log.places import PLACES, Place, place_of


@pytest.fixture(params=PLACES)
async def place(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    place = await place_of(request.param, tmp_path).open()
    yield place
    await place.close()


@pytest.fixture(params=[name for name, (_, store) in PLACES.items() if store == "late"])
async def shared(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Place]:
    place = await place_of(request.param, tmp_path).open()
    yield place
    await place.close()


@pytest.fixture(params=[name for name in PLACES if name.startswith("kafka")])
async def told(
    request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Place]:
    """Where a process hears of another by more than looking; and nobody looks without being told."""
    monkeypatch.setattr(wakes, "AGAIN_SECONDS", 3600.0)
    place = await place_of(request.param, tmp_path).open()
    yield place
    await place.close()
