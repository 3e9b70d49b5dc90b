"""An idle hub sleeps: its server does not tick, and still knows what time it is."""

from email.utils import parsedate_to_datetime
from pathlib import Path

import httpx2
import pytest
import uvicorn

from tests.doors.http.world import opened
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("P-07")


async def test_the_server_does_not_tick(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks: list[int] = []

    async def tick(server: uvicorn.Server, counter: int) -> bool:
        ticks.append(counter)
        return server.should_exit

    monkeypatch.setattr(uvicorn.Server, "on_tick", tick)
    async with opened(tmp_path) as world, httpx2.AsyncClient(timeout=PATIENCE) as client:
        assert (await client.get(f"{world.at.url}/healthz")).status_code == 200
    assert ticks == []


async def test_an_answer_has_the_date_of_its_second(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with opened(tmp_path) as world, httpx2.AsyncClient(timeout=PATIENCE) as client:
        for now in (1_800_000_000, 1_800_000_001, 1_800_003_600):
            monkeypatch.setattr("moot.doors.http.listener.time.time", lambda now=now: now + 0.5)
            dates = (await client.get(f"{world.at.url}/healthz")).headers.get_list("date")
            assert [parsedate_to_datetime(date).timestamp() for date in dates] == [now]
