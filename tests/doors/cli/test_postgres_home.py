"""Commands on a home whose conversations are on a database server: they work, or say what does it instead."""

import asyncio
from collections.abc import Callable

import pytest

from tests.doors.cli.shell import Shell, Told
from tests.support.postgres import empty_database

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
