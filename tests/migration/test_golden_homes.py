"""Homes that earlier versions left behind, one for each released version: this one opens them and loses nothing.

They lie in golden/ as SQL text (golden_home.py says why and how), each made once by the version it is named after with
`make golden`, from story.py as it stood then. A home is never edited; a version that adds a table or a kind of row adds
it to the story, and these tests say so.
"""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from moot import Hub
from moot.brains.code import AgentSpec
from moot.cli.app import run
from moot.hub.archive import backups
from moot.model.conversation import ConversationKind
from moot.model.event import EventType
from moot.model.participant import Kind
from moot.model.round import RoundState
from moot.model.turn import Duty, TurnState
from moot.settings import Home
from moot.stores.sqlite.engine import SqliteEngine
from moot.stores.sqlite.file import copies
from moot.testing import ManualClock
from tests.migration import golden_home, story
from tests.support.waiting import until

WAITED = ("waiting", "ready", "held", "owed", "running")
WORKERS = ("arya", "gendry", "lady", "hodor", "jon", "rickon", "bran")
OUTSIDE = ("claude", "codex")
TOLD = (
    EventType.TOKEN_ISSUED,
    EventType.TOKEN_REVOKED,
    EventType.OWNER_ACTED_AS,
    EventType.AGENT_JOINED,
    EventType.AGENT_RENAMED,
    EventType.CONVERSATION_CREATED,
    EventType.CONVERSATION_CHANGED,
    EventType.CONVERSATION_ARCHIVED,
    EventType.CONVERSATION_UNARCHIVED,
    EventType.CONVERSATION_DELETED,
    EventType.CONVERSATION_JOINED,
    EventType.CONVERSATION_LEFT,
    EventType.MESSAGE_EDITED,
    EventType.MESSAGE_DELETED,
    EventType.BRAKE_TRIPPED,
    EventType.BRAKE_RELEASED,
    EventType.NOTE_CREATED,
    EventType.NOTE_CHANGED,
    EventType.NOTE_SHARED,
    EventType.NOTE_DELETED,
)
"""Events that change who may do what, or what stands written."""
UNUSED = {
    "agent_links.place": "the story has no link of moot.toml",
    "turns.reserved": "what a turn has set aside goes with its host, and none outlives the story",
    "waits.answer": "noted until its asker has heard it, whose process does not outlive the story",
    "waits.host": "a wait ends with its process, and no process outlives the story",
    "tasks.kept_by": "no task is updated in a turn there",
    "events.topic": "for relays, which come later",
    "summaries.usage": "the demo brain costs nothing",
    "message_times.block": "counts from nought, one for each thousand rows",
}
"""Columns that are empty in every row of the story, and why."""


@pytest.fixture(params=golden_home.versions())
def version(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture
def home(version: str, tmp_path: Path) -> Path:
    return golden_home.build(version, tmp_path / "home")


@pytest.fixture(scope="module")
def todays(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same story, told by the code as it is; nobody changes it."""
    home = tmp_path_factory.mktemp("story") / "todays"
    asyncio.run(story.write(home))
    return home


def rows(database: Path, statement: str) -> list[tuple[Any, ...]]:
    connection = apsw.Connection(str(database), flags=apsw.SQLITE_OPEN_READONLY)
    found = connection.execute(statement).fetchall()
    connection.close()
    return found


def tables(database: Path) -> list[str]:
    return [name for (name,) in rows(database, "SELECT name FROM sqlite_schema WHERE type = 'table'")]


def counted(database: Path) -> dict[str, int]:
    """Rows of each table; pages of the full-text index are no rows of ours."""
    return {
        table: rows(database, f"SELECT count(*) FROM {table}")[0][0]
        for table in tables(database)
        if not table.startswith("message_")
    }


def migrated(home: Path) -> Path:
    SqliteEngine.open(home).close()
    return home / "moot.db"


# --- what is kept stays whole -------------------------------------------------------------------------------


def test_the_first_version_is_among_them() -> None:
    assert "0.1" in golden_home.versions()


@pytest.mark.req("P-07")
def test_it_migrates_and_no_row_is_lost(home: Path, tmp_path: Path) -> None:
    before = counted(home / "moot.db")
    after = counted(migrated(home))
    del before["schema_version"], before["counters"]  # they gain rows
    assert {table: after.get(table) for table in before} == before
    assert rows(home / "moot.db", "PRAGMA integrity_check") == [("ok",)]


def test_migrated_it_has_the_schema_of_a_new_home(home: Path, tmp_path: Path) -> None:
    columns = "SELECT m.name, c.name FROM sqlite_schema m, pragma_table_xinfo(m.name) c ORDER BY 1, 2"
    assert rows(migrated(home), columns) == rows(migrated(tmp_path / "new"), columns)


async def test_all_of_it_is_read_as_the_version_that_wrote_it_read_it(version: str, home: Path) -> None:
    migrated(home)
    now = await golden_home.everything_read(home)
    assert list(golden_home.differences(golden_home.expected(version), now)) == []


@pytest.mark.req("S-17")
def test_its_audit_chains_hold_and_an_altered_text_breaks_them(home: Path) -> None:
    assert copies.inspect(migrated(home)).problems == ()
    connection = apsw.Connection(str(home / "moot.db"))
    connection.execute("UPDATE messages SET content = 'altered' WHERE row = 3")
    connection.close()
    assert copies.inspect(home / "moot.db").problems


def test_its_backup_is_sound_and_can_be_restored(home: Path) -> None:
    [backup] = backups.list_backups(Home(home))
    found = backups.verify(Home(home), backup.path)
    assert (found.sound, found.messages) == (True, 2)
    assert backups.restore(Home(home), backup.path).messages == 2
    assert rows(home / "moot.db", "SELECT content FROM messages ORDER BY seq LIMIT 1") == [("hold the door",)]


def test_doctor_finds_nothing_broken(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["--home", str(home), "doctor"]) == 0
    assert "✗" not in capsys.readouterr().out


# --- and life goes on ---------------------------------------------------------------------------------------


@pytest.fixture
def clock(home: Path) -> ManualClock:
    """It goes on where the story broke off."""
    [(end,)] = rows(home / "moot.db", "SELECT max(at_us) FROM events")
    return ManualClock(end / 1e6 + 1)


@pytest.fixture
async def hub(home: Path, clock: ManualClock) -> AsyncIterator[Hub]:
    """The home opened again, with everybody there."""

    async def think(turn: Any) -> str:
        return f"{turn.agent} is here"

    everybody = [AgentSpec(name, think) for name in WORKERS]
    async with Hub.open(home, agents=everybody, clock=clock) as hub:
        yield hub


@pytest.mark.req("A-10")
async def test_what_was_open_is_answered(hub: Hub, clock: ManualClock, version: str) -> None:
    turns = [turn for turn in golden_home.expected(version)["turns"] if turn["state"] in WAITED]
    assert {turn["state"] for turn in turns} == set(WAITED)
    await until(
        hub.inspector.unsettled,
        lambda left: all(turn.state == "held" or turn.agent in OUTSIDE for turn in left),
    )
    await clock.advance(600)  # what is held until then
    await until(hub.inspector.unsettled, lambda left: all(turn.agent in OUTSIDE for turn in left))
    over = {turn["id"]: (await hub.turn(turn["id"], given=False)).state for turn in turns}
    assert {over[turn["id"]] for turn in turns if turn["agent"] not in OUTSIDE} == {"said"}
    for where, who in (("away", "bran"), ("open", "lady"), ("later", "jon"), ("tools", "hodor")):
        assert f"{who} is here" in [message.text for message in await hub.newest(where)]


async def test_who_was_given_a_message_and_did_not_answer_is_given_it_again(hub: Hub) -> None:
    found = await hub.acting_as("claude").mailbox.check(handed=())
    assert [message.text for message in found.messages] == [f"for claude: {story.UNICODE}"]
    assert await hub.acting_as("claude").mailbox.reply(found.messages[-1].id, "here I am") is not None


async def test_posting_asking_and_searching_work(hub: Hub) -> None:
    assert (await hub.ask("lady", "are you well?")).text == "lady is here"
    receipt = await hub.post("build", "@arya @gendry good morning")
    await hub.settled("build")
    assert [m.sender for m in await hub.messages("build", after=receipt.seq)][:2] == ["arya", "gendry"]
    assert [hit.message.id for hit in await hub.search("good morning")] == [receipt.id]
    repeated = await hub.post("build", f"@arya {story.UNICODE}", idempotency_key="klé-1", intent="ask")
    assert (repeated.seq, repeated.replayed) == (1, True)


async def test_a_reader_goes_on_at_its_bookmark(hub: Hub) -> None:
    quiet = await hub.conversations.get("quiet")
    opened = await hub.conversations.bookmarks.open(quiet.id, "laptop ☕")
    assert (opened.bookmark.seq, opened.bookmark.frames) == (2, 2)


# --- and all of it is there ---------------------------------------------------------------------------------


def test_every_table_of_a_golden_home_has_rows(home: Path) -> None:
    assert [table for table in tables(home / "moot.db") if not _rows_in(home / "moot.db", table)] == []


async def test_the_story_leaves_no_table_and_no_column_empty(todays: Path) -> None:
    database = todays / "moot.db"
    assert [table for table in tables(database) if not _rows_in(database, table)] == []
    empty = {
        f"{table}.{column}"
        for table in counted(database)
        for (column,) in rows(database, f"SELECT name FROM pragma_table_info('{table}')")
        if not _filled(database, table, column)
    } | {"message_times.block"}
    assert empty == set(UNUSED)


@pytest.mark.parametrize(
    ("what", "kinds"),
    [
        ("SELECT kind FROM conversations", ConversationKind),
        ("SELECT kind FROM messages", Kind),
        ("SELECT state FROM turns", TurnState),
        ("SELECT state FROM rounds", RoundState),
        ("SELECT j.value ->> 1 FROM messages, json_each(plan, '$[0]') j", Duty),
        ("SELECT type FROM events", TOLD),
    ],
    ids=["conversations", "messages", "turns", "rounds", "parts", "events"],
)
async def test_the_story_has_every_kind(todays: Path, what: str, kinds: Any) -> None:
    assert {str(kind) for kind in kinds} - {kind for (kind,) in rows(todays / "moot.db", what)} == set()


async def test_a_home_comes_back_from_its_text_row_by_row(todays: Path, tmp_path: Path) -> None:
    text = list(golden_home.as_text(todays / "moot.db"))
    golden_home.from_text("".join(f"{statement};\n" for statement in text), tmp_path / "again.db")
    assert list(golden_home.as_text(tmp_path / "again.db")) == text
    assert rows(tmp_path / "again.db", "PRAGMA integrity_check") == [("ok",)]
    words = "SELECT count(*) FROM message_words WHERE message_words MATCH 'forge'"
    assert rows(tmp_path / "again.db", words) == rows(todays / "moot.db", words)


def _rows_in(database: Path, table: str) -> int:
    count: int = rows(database, f"SELECT count(*) FROM {table}")[0][0]
    return count


def _filled(database: Path, table: str, column: str) -> bool:
    nothing = "(0, '', '[]', '{}')"
    found = rows(database, f'SELECT 1 FROM {table} WHERE "{column}" NOT IN {nothing} LIMIT 1')
    return bool(found)
