"""A home's data as a thing: there or not, copied while it is used, put back. For every engine that a home can have."""

import asyncio
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from moot import Hub
from moot.errors import StoreDamaged
from moot.ports import HomeStore
from moot.storage import Storage
from moot.stores.sqlite.file.storage import SqliteStorage
from tests.contract.store.places import Place

STORAGES: dict[str, Callable[[Path], Storage]] = {"sqlite": SqliteStorage}


@pytest.fixture(params=STORAGES)
def storage(request: pytest.FixtureRequest, tmp_path: Path) -> Storage:
    return STORAGES[request.param](tmp_path)


async def said(home: Path, *texts: str) -> None:
    async with Hub.open(home) as hub:
        await hub.conversations.create("room", exist_ok=True)
        for text in texts:
            await hub.post("room", text)


async def heard(home: Path) -> list[str]:
    async with Hub.open(home) as hub:
        return [message.text for message in await hub.messages("room")]


async def test_it_is_there_once_something_was_written(storage: Storage, tmp_path: Path) -> None:
    assert (storage.exists(), storage.is_remnant()) == (False, False)
    await said(tmp_path, "hello")
    assert (storage.exists(), storage.is_remnant()) == (True, False)
    assert storage.size() > 0
    assert storage.engine
    assert storage.version
    assert str(tmp_path) in storage.place


async def test_a_copy_made_while_it_is_used_is_sound(storage: Storage, tmp_path: Path) -> None:
    target = tmp_path / "copy"
    async with Hub.open(tmp_path) as hub:
        await hub.conversations.create("room")
        await hub.post("room", "one")
        made = storage.copy(target)
        await hub.post("room", "two")
    assert (made.messages, made.problems) == (1, ())
    assert storage.inspect(target) == made


async def test_what_is_no_copy_is_said_to_be_damaged(storage: Storage, tmp_path: Path) -> None:
    (tmp_path / "copy").write_bytes(b"anything but a copy" * 1000)
    with pytest.raises(StoreDamaged):
        storage.inspect(tmp_path / "copy")


async def test_a_copy_takes_the_place_of_the_data_which_is_kept(storage: Storage, tmp_path: Path) -> None:
    await said(tmp_path, "one")
    storage.copy(tmp_path / "copy")
    await said(tmp_path, "two", "three")
    done = storage.replace(tmp_path / "copy", keep=tmp_path / "kept")
    assert (done.messages, done.kept, done.revoked) == (1, tmp_path / "kept", 0)
    assert storage.inspect(tmp_path / "kept").messages == 3
    assert await heard(tmp_path) == ["one"]


async def test_where_nothing_was_there_is_nothing_to_keep(storage: Storage, tmp_path: Path) -> None:
    await said(tmp_path / "other", "one")
    STORAGES[storage.engine](tmp_path / "other").copy(tmp_path / "copy")
    assert storage.replace(tmp_path / "copy", keep=tmp_path / "kept").kept is None
    assert await heard(tmp_path) == ["one"]


async def test_a_bad_copy_changes_nothing(storage: Storage, tmp_path: Path) -> None:
    await said(tmp_path, "one")
    (tmp_path / "copy").write_bytes(b"anything but a copy" * 1000)
    with pytest.raises(StoreDamaged):
        storage.replace(tmp_path / "copy", keep=tmp_path / "kept")
    assert not (tmp_path / "kept").exists()
    assert await heard(tmp_path) == ["one"]


HOLDING = """
import asyncio, sys
from moot import Hub

async def hold():
    async with Hub.open(sys.argv[1]):
        print("open", flush=True)
        sys.stdin.read()

asyncio.run(hold())
"""


async def test_whoever_has_it_open_is_named(storage: Storage, tmp_path: Path) -> None:
    await said(tmp_path, "one")
    with storage.reserved() as holder:
        assert holder is None
    other = await asyncio.create_subprocess_exec(
        sys.executable, "-c", HOLDING, str(tmp_path), stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert other.stdout is not None
    assert await other.stdout.readline() == b"open\n"
    with storage.reserved() as holder:
        assert holder is not None
        assert holder.fix
    await other.communicate(b"")


async def test_every_store_says_how_it_is(place: Place) -> None:
    store: HomeStore = await place.open()  # type: ignore[assignment]
    health = await store.check()
    assert health.engine
    assert (health.durable, health.messages, health.problems) == (place.durable, 0, ())
