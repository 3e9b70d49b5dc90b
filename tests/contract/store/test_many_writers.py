"""Several processes write to one home: no error, no loss, no gap."""

import asyncio
import sys
from pathlib import Path

import pytest

from moot.model.change import PutConversation
from moot.ports import Page
from moot.rules import audit
from tests.contract.store.places import Place, WholeStore
from tests.contract.store.verbs import conversation, put, say, saying, together

ROOM = conversation("room")
REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture
async def first(place: Place) -> WholeStore:
    if not place.shared:
        pytest.skip("lives in one process")
    store = await place.open()
    await put(store, PutConversation(ROOM))
    return store


async def assert_whole(store: WholeStore, expected: set[str]) -> None:
    messages = await store.messages(ROOM.id, Page(limit=10_000))
    assert [message.seq for message in messages] == list(range(1, len(expected) + 1))
    assert {message.text for message in messages} == expected
    known = await store.conversation(ROOM.id)
    assert known is not None
    assert audit.verify(messages, [], known.chain, known.chain_length) is None


async def test_two_stores_write_at_once_without_gap(place: Place, first: WholeStore) -> None:
    second = await place.open()
    ours = together(first, [saying(ROOM.id, f"first {n}") for n in range(200)])
    theirs = together(second, [saying(ROOM.id, f"second {n}") for n in range(200)])
    seqs = [*(await asyncio.gather(ours, theirs))]
    assert sorted(seqs[0] + seqs[1]) == list(range(1, 401))
    await assert_whole(first, {f"{who} {n}" for who in ("first", "second") for n in range(200)})


async def test_what_one_store_answered_the_other_builds_on(place: Place, first: WholeStore) -> None:
    second = await place.open()
    for n in range(1, 21):
        assert await say(first if n % 2 else second, ROOM.id, f"text {n}") == n
    await assert_whole(second, {f"text {n}" for n in range(1, 21)})


async def test_two_processes_write_at_once_without_gap(place: Place, first: WholeStore) -> None:
    command = [sys.executable, "-m", "tests.contract.store.writer", place.where]
    processes = [
        await asyncio.create_subprocess_exec(
            *command, name, "200", cwd=REPOSITORY, stderr=asyncio.subprocess.PIPE
        )
        for name in ("left", "right")
    ]
    for n in range(50):
        await say(first, ROOM.id, f"here {n}")
    for process in processes:
        _, errors = await process.communicate()
        assert process.returncode == 0, errors.decode()
    expected = {f"{name} {n}" for name in ("left", "right") for n in range(200)}
    await assert_whole(first, expected | {f"here {n}" for n in range(50)})
