"""Commands on a home whose conversations are on a database server: they work, or say what does it instead."""

import asyncio
import time
from collections.abc import Callable

import pytest

from moot.flow import attach, hold_shares
from moot.flow.hold_shares import HoldShares, SharedGroup
from moot.model.ids import HostId, ParticipantId
from moot.model.limits import Terms
from moot.model.records.share import CONFIG
from moot.stores.ids import ConversationIds
from moot.stores.postgres.address import address_of
from moot.stores.postgres.store import PostgresStore
from moot.stores.runner import Source
from tests.doors.cli.shell import Shell, Told
from tests.support.postgres import emptied, empty_database

Moot = Callable[..., Told]

pytestmark = pytest.mark.req("K-04")


@pytest.fixture(autouse=True)
def any_port(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MOOT_HUB__PORT", "0")


@pytest.fixture
def there(shell: Shell) -> str:
    """The address that the home is set to."""
    url = asyncio.run(empty_database())
    with (shell.home / "moot.toml").open("a", encoding="utf-8") as file:
        file.write(f'[store]\nurl = "{url}"\n')
    return url


def test_people_talk_search_and_look_as_ever(there: str, shell: Shell, moot: Moot) -> None:
    assert moot("send", "arya", "where is the harvest").code == 0
    assert "where is the harvest" in moot("search", "harvest").out
    assert "where is the harvest" in moot("tail").out
    assert moot("status").code == 0
    assert not (shell.home / "moot.db").exists()


def test_doctor_reads_all_of_it(there: str, moot: Moot) -> None:
    moot("send", "arya", "hello")
    checked = moot("doctor")
    assert checked.code == 0
    assert "all chains verified, fsync on" in checked.out
    assert "made with pg_dump" in checked.out


def test_a_backup_is_left_to_the_servers_own_tools(there: str, moot: Moot) -> None:
    refused = moot("backup", "create")
    assert refused.code != 0
    assert "pg_dump --format=custom --schema=moot" in refused.err


def test_a_server_that_is_gone_is_said_to_be(shell: Shell, moot: Moot) -> None:
    with (shell.home / "moot.toml").open("a", encoding="utf-8") as file:
        file.write('[store]\nurl = "postgresql://moot:hunter2@127.0.0.1:1/moot"\n')
    for command in (("send", "arya", "hello"), ("tail",), ("doctor", "db")):
        gone = moot(*command)
        assert gone.code != 0
        assert "cannot reach postgresql://127.0.0.1:1/moot" in gone.err + gone.out
        assert "hunter2" not in gone.err + gone.out


def test_a_home_is_moved_there_and_back(shell: Shell, moot: Moot) -> None:
    assert moot("send", "arya", "where is the harvest").code == 0
    url = asyncio.run(emptied())
    moved = moot("migrate-store", url)
    assert moved.code == 0, moved.err
    assert "2 messages" in moved.out
    assert "all chains verified" in moved.out
    assert f"{shell.home / 'moot.db'} was not changed" in moved.out
    again = moot("migrate-store", url)
    assert again.code != 0
    assert "is not empty" in again.err
    with (shell.home / "moot.toml").open("a", encoding="utf-8") as file:
        file.write(f'[store]\nurl = "{url}"\n')
    assert "where is the harvest" in moot("search", "harvest").out
    (shell.home / "moot.db").rename(shell.home / "old.db")
    back = moot("migrate-store", "sqlite:moot.db", "--json").json
    assert (back["messages"], back["resumed"]) == (2, 0)
    assert (shell.home / "moot.db").exists()


def test_a_move_says_what_is_wrong_with_where_it_goes(shell: Shell, moot: Moot) -> None:
    moot("send", "arya", "hello")
    for url, problem in (
        ("mysql://db/moot", "this is not an address of a store"),
        ("sqlite:moot.db", "there already"),
        ("postgresql://moot:hunter2@127.0.0.1:1/moot", "cannot reach postgresql://127.0.0.1:1/moot"),
        ("postgresql://moot:${NO_SUCH_WORD}@db/moot", "the environment does not set NO_SUCH_WORD"),
    ):
        refused = moot("migrate-store", url)
        assert refused.code != 0
        assert problem in refused.err
        assert "hunter2" not in refused.err


def test_doctor_says_who_is_there_and_whose_file_rules(there: str, shell: Shell, moot: Moot) -> None:
    with (shell.home / "moot.toml").open("a", encoding="utf-8") as file:
        file.write('[[links]]\nfrom = "arya"\nto = "gendry"\n')
    moot("send", "arya", "hello")
    asyncio.run(ruled_from("winterfell:/home/moot", there))
    checked = moot("doctor")
    assert "hosts: 1 on this and 1 other machines" in checked.out
    assert "shares: arya: 2 parts at winterfell:/home/moot" in checked.out
    assert "moot.toml of winterfell:/home/moot says; [[links]] here are not used" in checked.out


async def ruled_from(place: str, url: str) -> None:
    """A hub on another machine, as far as the store knows."""
    store = await PostgresStore.open(address_of(url), Source(time.time, Terms(), ConversationIds()))
    far, arya = HostId("far"), ParticipantId("arya")
    groups = (SharedGroup(CONFIG, 1), SharedGroup("agent-arya", 2, arya))
    await store.transact(attach, attach.Attach(far, 1, (arya,), machine="far"))
    await store.transact(hold_shares, HoldShares(far, groups, place))
    await store.close()
