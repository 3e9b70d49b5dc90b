"""A file is followed however it is written, and nothing but the file is."""

import asyncio
import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import structlog

from moot import Hub
from moot.hub.process import file_watch
from tests.support.waiting import until

pytestmark = pytest.mark.req("S-12")


class Reader:
    """What a follower finds in the file each time it is told."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self.found: list[str | None] = []

    async def follow(self) -> None:
        async for _ in file_watch.changes(self._file):
            self.found.append(self._file.read_text() if self._file.exists() else None)

    async def reads(self, text: str | None) -> None:
        async def newest() -> str | None:
            return self.found[-1] if self.found else "nothing"

        await until(newest, lambda found: found == text)


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    found = Reader(tmp_path / "moot.toml")
    task = asyncio.create_task(found.follow())
    yield found
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_file_is_followed_however_it_is_written(reader: Reader, tmp_path: Path) -> None:
    toml, other = tmp_path / "moot.toml", tmp_path / "other"
    toml.write_text("made")
    await reader.reads("made")
    toml.write_text("written over")
    await reader.reads("written over")
    for text in ("put in its place", "and once more"):
        other.write_text(text)
        other.replace(toml)
        await reader.reads(text)
    toml.unlink()
    await reader.reads(None)
    toml.write_text("back")
    await reader.reads("back")


async def test_a_link_is_followed_and_so_is_what_it_leads_to(reader: Reader, tmp_path: Path) -> None:
    toml, first, second = (tmp_path / name for name in ("moot.toml", "first", "second"))
    first.write_text("first")
    second.write_text("second")
    toml.symlink_to(first)
    await reader.reads("first")
    first.write_text("first, changed")
    await reader.reads("first, changed")
    os.symlink(second, tmp_path / "link")
    (tmp_path / "link").replace(toml)
    await reader.reads("second")


async def test_what_happens_beside_a_file_is_not_told(reader: Reader, tmp_path: Path) -> None:
    toml = tmp_path / "moot.toml"
    toml.write_text("made")
    await reader.reads("made")
    for number in range(20):
        (tmp_path / "moot.db-wal").write_text(str(number))
    toml.write_text("written")
    await reader.reads("written")
    assert reader.found == ["made", "written"]


async def test_what_cannot_be_watched_is_said_and_does_no_harm(tmp_path: Path) -> None:
    assert await file_watch.trouble(tmp_path / "moot.toml") == ""
    assert "No such file" in await file_watch.trouble(tmp_path / "nowhere" / "moot.toml")


async def test_a_hub_that_cannot_watch_says_so_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError("no watches are left")

    monkeypatch.setattr("watchfiles.awatch", refuse)
    with structlog.testing.capture_logs() as logs:
        async with Hub.open(tmp_path, socket=tmp_path / "run" / "hub.sock") as hub:

            async def said() -> list[str]:
                return [each["error"] for each in logs if each.get("action") == "config_not_watched"]

            await until(said, lambda found: found == ["no watches are left"])
            (tmp_path / "moot.toml").write_text('[hub]\npolicy = "open"\n')
            assert [change.name for change in (await hub.reload()).changes] == ["hub.policy"]
