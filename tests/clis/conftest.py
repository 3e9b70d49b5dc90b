"""Fixtures of the tests with the real coding CLIs."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path

import pytest

from moot.testing.fake_llm import Answer, FakeLLM, Request
from tests.clis.place import MOOT, Place, Played, installed


@pytest.fixture
async def place(tmp_path: Path) -> AsyncIterator[Place]:
    """With a hub that runs; each client's script is set by the test."""
    installed()
    script: dict[str, Played] = {}

    async def play(request: Request) -> Answer:
        return await script[request.model](request)

    async with FakeLLM(play) as model:
        place = Place(tmp_path / "person", model, script)
        place.home.mkdir()
        async with hub_of(place):
            yield place


@asynccontextmanager
async def hub_of(place: Place, **more: str) -> AsyncIterator[asyncio.subprocess.Process]:
    process = await asyncio.create_subprocess_exec(
        str(MOOT),
        "up",
        "--json",
        env=place.environ(**more),
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    try:
        assert json.loads(await process.stdout.readline())["pid"] == process.pid
        yield process
    finally:
        with suppress(ProcessLookupError):
            process.terminate()
        await process.wait()
