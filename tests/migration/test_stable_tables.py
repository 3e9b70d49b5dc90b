"""What people with `sqlite3` rely on: the tables and columns INTERFACES names, read as it says."""

import re
import sqlite3
from pathlib import Path

import pytest
from msgspec import structs

from moot.model.change import AppendMessage, Emit, PutConversation, PutMember, PutParticipant, PutTurn
from moot.model.limits import Terms
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from tests.contract.store import samples
from tests.contract.store.verbs import PERMIT, put

STABLE = {
    "messages": "conversation seq id sender kind content mentions reply_to root hop created_at",
    "conversations": "id name kind created_at updated_at archived",
    "participants": "conversation name kind joined_at cursor",
    "turns": "id agent conversation lo hi duty state",
    "events": "id type conversation topic at",
    "nodes": "id parent conversation seq context content version created_at",
}
RFC_3339 = re.compile(r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$")


@pytest.fixture
async def database(tmp_path: Path) -> Path:
    store = await SqliteStore.open(tmp_path, Source(lambda: 1.0, Terms(), ConversationIds()))
    await put(
        store,
        PutParticipant(samples.PARTICIPANT),
        PutConversation(samples.CONVERSATION),
        PutMember(structs.replace(samples.MEMBER, participant=samples.BOB)),
        AppendMessage(samples.MESSAGE, PERMIT),
        PutTurn(samples.TURN),
        Emit(samples.EVENT),
    )
    await store.close()
    return tmp_path / "moot.db"


@pytest.mark.parametrize("table", STABLE)
def test_the_stable_columns_are_there_and_times_are_text(database: Path, table: str) -> None:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    connection.row_factory = sqlite3.Row
    found = connection.execute(f"SELECT {STABLE[table].replace(' ', ', ')} FROM {table}").fetchall()
    [row] = found[1:] if table == "nodes" else found  # the first of its nodes is the root
    connection.close()
    for column in row.keys():  # noqa: SIM118 - a Row iterates over its values
        if column == "at" or column.endswith("_at"):
            assert RFC_3339.match(row[column]), (column, row[column])


def test_the_stable_columns_say_what_the_values_say(database: Path) -> None:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    [message] = connection.execute("SELECT id, sender, kind, content, created_at FROM messages")
    [member] = connection.execute("SELECT name, kind, cursor FROM participants")
    connection.close()
    assert message == ("c-ñ:1", samples.BOB, "external", samples.TEXT, "2027-06-07T05:21:18.123457Z")
    assert member == ("Bøb", "external", samples.MEMBER.cursor)
