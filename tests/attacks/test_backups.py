"""Somebody hands over a backup, or waits until an old one is restored: nothing in it may act, or open a door (B4)."""

import sys
from collections.abc import Callable
from pathlib import Path

import apsw
import pytest

from moot import Hub, wiring
from moot.errors import StoreDamaged
from moot.hub.archive import backups
from moot.hub.commands.tokens import digest_of, fresh
from moot.settings import Home, load

SQL = str
COLUMNS = "id, participant, digest, scopes, created_us, used_at, revoked_at"


async def talked(home: Home) -> Path:
    """A home in which something was said, and a backup of it."""
    async with Hub.open(home.path) as hub:
        await hub.agents.create("arya", external=True)
        await hub.conversations.create("room", participants=["arya"])
        await hub.post("room", "hello")
    return backups.create(home).path


def change(path: Path, *statements: SQL) -> None:
    """As an attacker would: with all that protects a schema switched off."""
    connection = apsw.Connection(str(path))
    connection.config(apsw.SQLITE_DBCONFIG_DEFENSIVE, 0)
    for statement in statements:
        connection.execute(statement)
    connection.close()


HOSTILE: dict[str, tuple[SQL, ...]] = {
    "a trigger on every message": (
        "CREATE TRIGGER t AFTER INSERT ON messages BEGIN UPDATE tokens SET revoked_at = 0; END",
    ),
    "a trigger on the migrations": (
        "CREATE TRIGGER t AFTER UPDATE ON counters BEGIN DELETE FROM messages; END",
    ),
    "a view in the place of a table": (
        "ALTER TABLE tokens RENAME TO real_tokens",
        "CREATE VIEW tokens AS SELECT * FROM real_tokens",
    ),
    "a table of its own": ("CREATE TABLE loot (x)",),
    "an index that calls a function": ("CREATE INDEX i ON messages (hex(content))",),
    "a table that is written otherwise": (
        "PRAGMA writable_schema = 1",
        "UPDATE sqlite_schema SET sql = replace(sql, 'REAL NOT NULL', 'REAL') WHERE name = 'tokens'",
    ),
    "a missing index": ("DROP INDEX tokens_of",),
    "an id that leads out of the home": ("UPDATE registry SET id = '../../run/evil' WHERE id = 'arya'",),
    "an id that is a path, everywhere alike": (
        "UPDATE registry SET id = '/etc/evil' WHERE id = 'arya'",
        "UPDATE members SET participant = '/etc/evil' WHERE participant = 'arya'",
        "UPDATE aliases SET participant = '/etc/evil' WHERE participant = 'arya'",
        "INSERT INTO aliases VALUES ('/etc/evil', '/etc/evil')",
        "DELETE FROM turns",
    ),
    "a name that leads to somebody else": ("INSERT INTO aliases VALUES ('user', 'arya')",),
    "a member nobody knows": ("UPDATE members SET participant = 'ghost' WHERE participant = 'arya'",),
    "a name that leads out of the home": ("UPDATE registry SET name = '../evil' WHERE id = 'arya'",),
    "an alias that leads out of the home": ("UPDATE registry SET aliases = '[\"../evil\"]' WHERE id = 'arya'",),
    "a conversation's id that leads out": ("UPDATE conversations SET id = '../../x'",),
    "a token whose id leads out": (
        f"INSERT INTO tokens ({COLUMNS}) VALUES ('../t', 'arya', 'd', '[]', 1, 0, 0)",
    ),
    "an altered message": ("UPDATE messages SET content = 'goodbye'",),
}  # fmt: skip


@pytest.mark.parametrize("statements", HOSTILE.values(), ids=HOSTILE)
async def test_a_backup_with_something_else_in_it_is_neither_verified_nor_restored(
    statements: tuple[SQL, ...], home: Home
) -> None:
    path = await talked(home)
    assert backups.verify(home, path).sound
    before = home.db.read_bytes()
    change(path, *statements)
    found = backups.verify(home, path)
    assert not found.sound
    assert found.problems
    with pytest.raises(StoreDamaged):
        backups.restore(home, path)
    assert home.db.read_bytes() == before


async def test_a_trigger_in_a_database_does_not_run_when_it_is_written_to(home: Home) -> None:
    """Whoever can write the file owns it; but what it brings along still acts on nothing."""
    await talked(home)
    change(home.db, "CREATE TRIGGER t AFTER INSERT ON messages BEGIN DELETE FROM registry; END")
    async with Hub.open(home.path) as hub:
        await hub.post("room", "again")
        assert [one.name for one in await hub.agents.list()] == ["arya"]


async def test_tokens_revoked_since_stay_revoked_after_a_restore(home: Home) -> None:
    async with Hub.open(home.path) as hub:
        await hub.agents.create("arya", external=True)
        kept, lost = await hub.agents.issue_token("arya"), await hub.agents.issue_token("arya")
    path = backups.create(home).path
    async with Hub.open(home.path) as hub:
        await hub.agents.revoke_token("arya", lost.id)
    done = backups.restore(home, path)
    assert done.revoked == 1
    async with Hub.open(home.path) as hub:
        assert await hub.agents.bearers().of(kept.token) is not None
        assert await hub.agents.bearers().of(lost.token) is None


@pytest.mark.parametrize(
    "plant",
    [
        "UPDATE tokens SET digest = '{digest}'",
        "UPDATE tokens SET scopes = '[\"read\"]'",
        "UPDATE tokens SET participant = 'user'",
        f"INSERT INTO tokens ({COLUMNS}) SELECT 't00', participant, '{{digest}}', scopes, 1, 0, 0 FROM tokens",
    ],
)
async def test_a_planted_token_opens_nothing_after_a_restore(plant: SQL, home: Home) -> None:
    planted = fresh("ag")
    async with Hub.open(home.path) as hub:
        await hub.agents.create("arya", external=True)
        issued = await hub.agents.issue_token("arya")
    path = backups.create(home).path
    change(path, plant.format(digest=digest_of(planted)))
    assert backups.restore(home, path).revoked == 1
    async with Hub.open(home.path) as hub:
        assert await hub.agents.bearers().of(planted) is None
        bearer = await hub.agents.bearers().of(issued.token)
        assert bearer is None or plant.startswith("INSERT")


@pytest.mark.parametrize("ruin", [Path.unlink, lambda db: db.write_bytes(b"rubbish" * 1000)])
async def test_where_nobody_can_say_which_tokens_are_good_none_is(
    ruin: Callable[[Path], object], home: Home
) -> None:
    async with Hub.open(home.path) as hub:
        await hub.agents.create("arya", external=True)
        issued = await hub.agents.issue_token("arya")
    path = backups.create(home).path
    ruin(home.db)
    assert backups.restore(home, path).revoked == 1
    async with Hub.open(home.path) as hub:
        assert await hub.agents.bearers().of(issued.token) is None


async def test_a_restored_home_calls_at_no_socket_of_the_backup(home: Home) -> None:
    path = await talked(home)
    change(
        path,
        "INSERT INTO hosts (id, pid, agents, lease_until, started_at, socket, watches)"
        " VALUES ('h1', 1, '[]', 9e9, 1, '/tmp/evil.sock', 1)",
    )
    backups.restore(home, path)
    connection = apsw.Connection(str(home.db))
    assert connection.execute("SELECT socket FROM hosts WHERE id = 'h1'").get == ""
    connection.close()


PWN = """
async def f(turn):
    return "I run"
open({mark!r}, "w").close()
"""


@pytest.mark.parametrize("is_own", [True, False])
async def test_settings_of_a_backup_from_elsewhere_take_effect_only_when_the_owner_renames_them(
    is_own: bool, home: Home, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A planted moot.toml would run what it names as soon as anything starts."""
    folder, ran = tmp_path / "planted", tmp_path / "ran"
    folder.mkdir()
    (folder / "planted_pwn.py").write_text(PWN.format(mark=str(ran)))
    monkeypatch.syspath_prepend(str(folder))
    monkeypatch.delitem(sys.modules, "planted_pwn", raising=False)
    made = await talked(home)
    beside = made.with_suffix(".files")
    (beside / "moot.toml").write_text('[[agents]]\nname = "pwn"\nbrain = "code:planted_pwn:f"\n')
    if not is_own:
        beside.rename(tmp_path / beside.name)
        made = made.rename(tmp_path / made.name)
    home.toml.unlink()
    done = backups.restore(home, made)
    assert done.files == (("moot.toml",) if is_own else ("moot.toml.restored",))
    wiring.configured_agents(load(home), home)
    assert ran.exists() == is_own
