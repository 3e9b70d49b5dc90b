"""Bits that fall over: damage is told with its place, nothing crashes, restore takes the newest that is sound (B8)."""

import random
import re
import shutil
from pathlib import Path

import apsw
import pytest

from moot import PASS, Hub, agent
from moot.errors import MootError, NotFound, StoreDamaged
from moot.hub.archive import backups, health
from moot.settings import Home
from tests.doors.cli.shell import make_home

FLIPS = 60


@agent("arya")
async def arya(turn: object) -> str:
    return PASS


async def talked(home: Home, *texts: str) -> None:
    async with Hub.open(home.path, agents=[arya]) as hub:
        await hub.agents.issue_token("arya")
        await hub.conversations.create("room", participants=["arya"], exist_ok=True)
        for text in texts:
            await hub.post("room", text)
        await hub.settled("room", timeout=20)
        await hub.search("one")


def flip(path: Path, needle: bytes, at: int = 0, bit: int = 7) -> None:
    """One bit of the first place where something stands."""
    raw = bytearray(path.read_bytes())
    where = raw.index(needle) + at
    raw[where] ^= 1 << bit
    path.write_bytes(raw)


def ruin(path: Path, table: str, column: str, condition: str) -> None:
    """The first letter of a text becomes a byte that begins no letter."""
    field = column.partition(" ")[0]
    connection = apsw.Connection(str(path))
    broken = f"CAST(CAST(X'E1' AS BLOB) || substr(CAST({column} AS BLOB), 2) AS TEXT)"
    connection.execute(f"UPDATE {table} SET {field} = {broken} WHERE {condition}")
    connection.close()


PLACES = [
    ("messages", "content", "seq = 2", r"messages c\w+:2: a text is not UTF-8"),
    ("messages", "metadata", "seq = 2", r"messages c\w+:2: "),
    ("messages", "sender", "seq = 2", r"messages c\w+:2: a text is not UTF-8"),
    ("conversations", "name", "1", r"conversations c\w+: a text is not UTF-8"),
    ("conversations", "settings", "1", r"conversations c\w+: "),
    ("registry", "role || 'x'", "id = 'arya'", r"registry arya: a text is not UTF-8"),
    ("registry", "name", "id = 'arya'", r"registry arya: a text is not UTF-8"),
    ("turns", "state", "id = 1", r"turns 1: "),
    ("events", "type", "id = 1", r"events 1: a text is not UTF-8"),
    ("tokens", "digest", "1", r"tokens t\w+: a text is not UTF-8"),
    ("members", "participant", "participant = 'arya'", r"members c\w+ "),
]


@pytest.mark.parametrize(("table", "column", "condition", "told"), PLACES)
async def test_damage_is_told_with_its_place(
    table: str, column: str, condition: str, told: str, home: Home
) -> None:
    await talked(home, "@arya one", "@arya two")
    path = backups.create(home).path
    assert backups.verify(home, path).problems == ()
    for target in (path, home.db):
        ruin(target, table, column, condition)
    found = backups.verify(home, path)
    assert not found.sound
    assert any(re.match(told, problem) for problem in found.problems), found.problems
    with pytest.raises(StoreDamaged):
        backups.restore(home, path)
    try:
        problems = (await health.check(home)).problems
    except StoreDamaged:  # where it cannot even be opened
        return
    assert any(re.match(told, problem) for problem in problems), problems


async def test_any_bit_of_the_file_gives_a_named_error_or_is_harmless(home: Home, tmp_path: Path) -> None:
    """Bytes that mean something, chosen from a fixed seed."""
    await talked(home, *(f"@arya one {number}" for number in range(6)))
    raw = home.db.read_bytes()
    chance = random.Random(13)
    meaningful = [place for place, byte in enumerate(raw) if byte]
    outcomes: dict[str, int] = {"sound": 0, "damaged": 0}
    for _ in range(FLIPS):
        place, bit = chance.choice(meaningful), chance.randrange(8)
        flipped = bytearray(raw)
        flipped[place] ^= 1 << bit
        copy = Home(tmp_path / "copy")
        shutil.rmtree(copy.path, ignore_errors=True)
        copy.make()
        copy.db.write_bytes(flipped)
        outcomes["sound" if backups.verify(copy, copy.db).sound else "damaged"] += 1
        try:
            await health.check(copy)
        except MootError:
            continue
        except Exception as crash:
            pytest.fail(f"bit {bit} of byte {place}: {crash!r}")
        try:
            await talked(copy, "one more")
        except MootError:
            continue
        except Exception as crash:
            pytest.fail(f"bit {bit} of byte {place}: {crash!r}")
    assert outcomes["damaged"] > outcomes["sound"] > 0


@pytest.mark.parametrize("table", ["config", "data", "idx", "docsize"])
async def test_a_bit_in_how_the_search_index_is_written_is_told_as_damage(table: str, home: Home) -> None:
    """Its own tables are compared by their names alone: how they are written is SQLite's affair."""
    await talked(home, "one")
    raw = home.db.read_bytes()
    written = re.search(rb"CREATE TABLE 'message_words_%s'\([^\n\x00]*?\)" % table.encode(), raw)
    assert written is not None
    told = 0
    for place in range(written.start(), written.end(), 3):
        flipped = bytearray(raw)
        flipped[place] ^= 1
        home.db.write_bytes(flipped)
        try:
            told += bool((await health.check(home)).problems)
        except StoreDamaged:
            told += 1
    assert told


async def test_a_restore_passes_over_what_is_damaged(home: Home) -> None:
    await talked(home, "one is older")
    older = backups.create(home).path
    await talked(home, "two is newer")
    newer = backups.create(home).path
    flip(newer, b"two is newer")
    chosen = backups.choose(home, None)
    assert (chosen.path, [each.path for each in chosen.passed_over]) == (older, [newer])
    assert backups.restore(home, chosen.path).messages == 1
    flip(older, b"one is older")
    with pytest.raises(NotFound, match="no intact backup") as none:
        backups.choose(home, None)
    assert "a text is not UTF-8" in none.value.detail


def test_a_flipped_bit_is_told_by_doctor_verify_and_restore(tmp_path: Path) -> None:
    shell = make_home(tmp_path / "home")
    moot = shell.moot
    assert moot("conv", "new", "room").code == 0
    assert moot("chat", "--conv", "room", "first").code == 0
    assert moot("backup", "create").code == 0
    assert moot("chat", "--conv", "room", "second and last").code == 0
    newer = Path(moot("backup", "create", "--json").json["path"])
    flip(newer, b"second and last")
    flip(shell.home / "moot.db", b"second and last")
    doctor = moot("doctor", "db")
    assert doctor.code == 1
    assert "messages c" in doctor.out
    assert ":2: a text is not UTF-8" in doctor.out
    verified = moot("backup", "verify", str(newer))
    assert verified.code == 1
    assert ":2: a text is not UTF-8" in verified.out
    named = moot("backup", "restore", str(newer), "--yes")
    assert named.code != 0
    assert "E000" not in named.err + doctor.err + verified.err
    restored = moot("backup", "restore", "--yes")
    assert restored.code == 0
    assert "which is damaged: messages c" in restored.out
    assert moot("doctor", "db").code == 0
