"""Other users of the machine, and hands that delete: files are the owner's from their first byte, links lead nowhere,
and a database that vanishes under a running hub is noticed (B7)."""

import asyncio
import os
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from moot import Hub
from moot.brains.llm.keys import KeyRing
from moot.cli.run.doctor_checks import everything
from moot.errors import BadSettings, StoreDamaged, StoreUnwritable
from moot.hub.archive import backups
from moot.hub.process.hub_lock import HubLock
from moot.hub.process.owner_token import owner_token
from moot.settings import Home


@pytest.fixture
def lax() -> Iterator[None]:
    """A umask that gives everything away."""
    before = os.umask(0)
    yield
    os.umask(before)


def mode(path: Path) -> int:
    return stat.S_IMODE(path.lstat().st_mode)


class Watcher:
    """Looks at a folder as fast as it can, and remembers every mode that a file in it ever had."""

    def __init__(self, folder: Path) -> None:
        self.seen: dict[str, set[int]] = {}
        self._folder = folder
        self._over = False
        self._thread = threading.Thread(target=self._look)

    def _look(self) -> None:
        while not self._over:
            for entry in os.scandir(self._folder):
                try:
                    found = entry.stat(follow_symlinks=False)
                except FileNotFoundError:
                    continue
                if stat.S_ISREG(found.st_mode):
                    self.seen.setdefault(entry.name, set()).add(stat.S_IMODE(found.st_mode))

    def __enter__(self) -> "Watcher":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over = True
        self._thread.join()


async def test_nothing_of_a_database_is_ever_open_to_others(tmp_path: Path, lax: None) -> None:
    """Also in a folder that was there before and that everybody may look into."""
    folder = tmp_path / "shared"
    folder.mkdir(mode=0o755)
    (folder / "notes.txt").write_text("somebody's")
    home = Home(folder)
    with Watcher(folder) as watcher:
        async with Hub.open(folder) as hub:
            await hub.conversations.create("room")
            await hub.post("room", "hello")
            there = {path.name for path in folder.iterdir() if path.is_file()}
            assert {"moot.db", "moot.db-wal", "moot.db-shm"} <= there
            token = owner_token(home)
            backups.create(home)
        backups.restore(home, backups.choose(home, None).path)
    told = {name: modes for name, modes in watcher.seen.items() if name.startswith("moot.db")}
    assert told
    assert set().union(*told.values()) == {0o600}
    private = [path for path in folder.rglob("*") if path.is_file() and path.name != "notes.txt"]
    assert {path.name: mode(path) for path in private if mode(path) != 0o600} == {}
    assert token not in (folder / "notes.txt").read_text()


async def test_a_database_that_was_left_open_to_others_is_closed(home: Home, lax: None) -> None:
    async with Hub.open(home.path):
        pass
    home.db.chmod(0o644)
    async with Hub.open(home.path) as hub:
        await hub.conversations.create("room")
        parts = [home.db, *home.path.glob("moot.db-*")]
        assert {mode(path) for path in parts} == {0o600}
        assert len(parts) == 3


@pytest.mark.parametrize("part", ["moot.db", "moot.db-wal", "moot.db-shm"])
async def test_a_link_in_the_place_of_a_database_is_not_followed(
    part: str, home: Home, tmp_path: Path
) -> None:
    async with Hub.open(home.path):
        pass
    elsewhere = tmp_path / "elsewhere"
    elsewhere.write_bytes(home.db.read_bytes() if part == "moot.db" else b"")
    elsewhere.chmod(0o644)
    before = elsewhere.read_bytes()
    (home.path / part).unlink(missing_ok=True)
    (home.path / part).symlink_to(elsewhere)
    with pytest.raises(StoreUnwritable, match="it is a link"):
        async with Hub.open(home.path):
            pass
    assert (elsewhere.read_bytes(), mode(elsewhere)) == (before, 0o644)


def hub_lock(home: Home) -> None:
    with HubLock(home):
        pass


USES: dict[str, Callable[[Home], object]] = {
    "run/token": owner_token,
    "run/hub.lock": hub_lock,
    "keys.json": lambda home: KeyRing({}, home.keys).find("anthropic"),
}


@pytest.mark.parametrize("name", USES)
@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_a_secret_is_neither_read_nor_opened_up_nor_written_through_a_link(
    name: str, kind: str, home: Home, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.write_text("moot_ow_" + "x" * 60)
    other.chmod(0o644)
    if kind == "link":
        (home.path / name).symlink_to(other)
    else:
        os.mkfifo(home.path / name)
    with pytest.raises((BadSettings, OSError)):
        USES[name](home)
    assert (mode(other), other.read_text()) == (0o644, "moot_ow_" + "x" * 60)
    (home.path / name).unlink()
    USES[name](home)  # without it there is nothing in the way


@pytest.mark.parametrize("name", ["run", "agents", "backups", "logs"])
def test_a_folder_of_the_home_is_not_a_link(name: str, home: Home, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir(mode=0o755)
    for inside in sorted((home.path / name).rglob("*"), reverse=True):
        inside.rmdir()
    (home.path / name).rmdir()
    (home.path / name).symlink_to(outside)
    with pytest.raises(BadSettings, match="is a link"):
        home.make()
    assert (mode(outside), list(outside.iterdir())) == (0o755, [])


async def test_the_doctor_does_not_close_a_file_behind_a_link(home: Home, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.write_text("{}")
    other.chmod(0o644)
    home.keys.symlink_to(other)
    [told] = [check for check in await everything(home) if check.check == "keys"]
    assert (told.state, told.mend) == ("bad", None)
    assert "it is a link" in told.text


# --- deleted while it is open ----------------------------------------------------------------------------------


DELETED = "was deleted or replaced while it was open"


@asynccontextmanager
async def doomed(home: Home) -> AsyncIterator[Hub]:
    """A hub whose database goes while it runs: when it ends that is said once more."""
    failed: list[BaseException] = []
    said = ""
    try:
        async with Hub.open(home.path) as hub:
            try:
                yield hub
            except BaseException as error:  # the end of the hub would hide it
                failed.append(error)
    except StoreDamaged as damage:
        said = damage.title
    for earlier in failed:
        raise earlier
    assert DELETED in said


def remove(home: Home, *endings: str) -> None:
    for ending in endings:
        home.db.with_name(home.db.name + ending).unlink()


GONE = [("-wal",), ("-shm",), ("-wal", "-shm"), ("",), ("", "-wal", "-shm")]


@pytest.mark.parametrize("endings", GONE, ids=["+".join(each or "db" for each in one) for one in GONE])
async def test_a_database_that_was_deleted_takes_nothing_more(endings: tuple[str, ...], home: Home) -> None:
    async with doomed(home) as hub:
        await hub.conversations.create("room")
        await hub.post("room", "kept")
        remove(home, *endings)
        for _ in range(3):
            with pytest.raises(StoreDamaged, match=DELETED):
                await hub.post("room", "lost")
        assert [one.text for one in await hub.messages("room")][:1] == [
            "kept"
        ]  # what is open can still be read


async def test_a_log_that_was_replaced_takes_nothing_more_and_is_left_alone(home: Home) -> None:
    async with doomed(home) as hub:
        await hub.conversations.create("room")
        log = home.db.with_name("moot.db-wal")
        content = log.read_bytes()
        log.unlink()
        log.write_bytes(content)
        with pytest.raises(StoreDamaged):
            await hub.post("room", "lost")
        before = home.db.read_bytes()
    assert home.db.read_bytes() == before


OPENING = """
import asyncio, sys
from moot import Hub
from moot.errors import StoreDamaged

async def main():
    try:
        async with Hub.open(sys.argv[1]) as hub:
            print("opened", len(await hub.conversations.list()))
    except StoreDamaged as damage:
        print("refused", damage.detail)

asyncio.run(main())
"""


READING = """
import os, sqlite3, sys

sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True).execute("SELECT count(*) FROM messages").fetchone()
os._exit(0)
"""


@pytest.mark.parametrize("endings", [*GONE, ("-shm", "recreated")])
async def test_nobody_begins_anew_beside_a_hub_whose_database_was_deleted(
    endings: tuple[str, ...], home: Home
) -> None:
    def elsewhere() -> str:
        asked = [sys.executable, "-c", OPENING, str(home.path)]
        return subprocess.run(asked, capture_output=True, text=True, timeout=60, check=True).stdout

    async with doomed(home) as hub:
        await hub.conversations.create("room")
        assert await asyncio.to_thread(elsewhere) == "opened 1\n"
        remove(home, *(ending for ending in endings if ending != "recreated"))
        if "recreated" in endings:  # as somebody who only reads does
            reads = [sys.executable, "-c", READING, str(home.db)]
            await asyncio.to_thread(subprocess.run, reads, timeout=60, check=True)
            assert home.db.with_name("moot.db-shm").exists()
        told = await asyncio.to_thread(elsewhere)
        assert told.startswith("refused ")
        assert "another process still has it open" in told


async def test_what_a_deleted_log_held_is_folded_back_when_the_hub_ends(home: Home) -> None:
    async with doomed(home) as hub:
        await hub.conversations.create("room")
        await hub.post("room", "kept")
        remove(home, "-wal", "-shm")
        with pytest.raises(StoreDamaged):
            await hub.post("room", "lost")
    async with Hub.open(home.path) as hub:
        assert "kept" in [one.text for one in await hub.messages("room")]
