"""Quick looks at a home: they find what is there, and where they cannot look they neither fail nor make anything."""

from pathlib import Path

import pytest

from moot import peek
from moot.model.change import PutConversation, PutParticipant
from moot.model.limits import Terms
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from tests.contract.store import samples
from tests.contract.store.verbs import conversation, put

SESSION = {"client": "claude", "folder": "/project", "name": ""}


async def test_names_are_those_of_the_store(tmp_path: Path) -> None:
    store = await SqliteStore.open(tmp_path, Source(lambda: 1.0, Terms(), ConversationIds()))
    await put(store, PutConversation(conversation("room")), PutParticipant(samples.PARTICIPANT))
    await store.close()
    assert peek.is_there(tmp_path)
    assert peek.conversation_names(tmp_path) == ["room"]
    assert peek.agent_names(tmp_path) == []  # it was removed
    assert not peek.anything_to_do(tmp_path, **SESSION)


@pytest.mark.parametrize("content", [None, b"", b"not a database at all, by any reading of it" * 100])
def test_where_nothing_can_be_read_nothing_is_named_and_the_long_way_is_taken(
    tmp_path: Path, content: bytes | None
) -> None:
    if content is not None:
        (tmp_path / "moot.db").write_bytes(content)
    before = {path: path.read_bytes() for path in tmp_path.iterdir()}
    assert peek.is_there(tmp_path) == (content is not None)
    assert peek.agent_names(tmp_path) == peek.conversation_names(tmp_path) == []
    assert peek.anything_to_do(tmp_path, **SESSION)
    assert {path: path.read_bytes() for path in tmp_path.iterdir()} == before
