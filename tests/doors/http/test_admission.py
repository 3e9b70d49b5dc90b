"""Whether whoever asks may is settled inside the decision: nothing is read before a write, and a revocation counts from
its commit on, also when it came from another process and every hint was lost."""

import time
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from moot.doors.http.api.schema import MAX_JSON_INTEGER
from moot.flow import revoke_token
from moot.model.ids import ParticipantId
from moot.model.limits import Terms
from moot.model.records.token import TokenId
from moot.stores.ids import ConversationIds
from moot.stores.runner import Source
from moot.stores.sqlite.store import SqliteStore
from tests.doors.http.world import World
from tests.support.reads import counted
from tests.support.waiting import PATIENCE

MESSAGES = "/api/conversations/room/messages"


async def revoke_elsewhere(folder: Path, participant: str, token: str) -> None:
    """As another process would, of which nobody here is told."""
    store = await SqliteStore.open(folder, Source(time.time, Terms(), ConversationIds()))
    owner, whose = ParticipantId("user"), ParticipantId(participant)
    await store.transact(revoke_token, revoke_token.RevokeToken(owner, whose, TokenId(token)))
    await store.close()


REQUESTS: list[tuple[str, str, Any]] = [
    ("POST", MESSAGES, {"text": "hello"}),
    ("POST", MESSAGES, {"text": 7}),
    ("POST", "/api/conversations/nowhere/messages", {"text": "hello"}),
    ("POST", "/api/agents/quiet/messages", {"message": "hello"}),
    ("POST", "/api/agents/nobody/messages", {"message": "hello"}),
    ("POST", "/api/conversations/room/read", {"seq": 1}),
    ("DELETE", "/api/conversations/room/participants/arya", None),
    ("GET", MESSAGES, None),
    ("GET", "/api/agents", None),
    ("POST", "/api/agents/arya/check", {}),
]


@pytest.mark.parametrize(("method", "path", "body"), REQUESTS, ids=[f"{m} {p}" for m, p, _ in REQUESTS])
async def test_a_token_revoked_by_another_process_opens_nothing_from_then_on(
    world: World, tmp_path: Path, method: str, path: str, body: Any
) -> None:
    issued = await world.hub.agents.issue_token("arya")
    world.tokens["fresh"] = issued.token
    assert (await world.ask("fresh", "POST", MESSAGES, {"text": "before"})).status_code == 201
    before = len(await world.hub.messages("room"))
    await revoke_elsewhere(tmp_path, "arya", issued.id)
    refused = await world.ask("fresh", method, path, body)
    assert (refused.status_code, refused.json()["code"]) == (401, "E300")
    assert len(await world.hub.messages("room")) == before


@pytest.mark.parametrize(
    ("path", "body"),
    [(MESSAGES, {"text": "hello"}), ("/api/agents/quiet/messages", {"message": "hello"})],
    ids=["post", "send"],
)
async def test_a_write_reads_nothing_before_and_nothing_after(
    world: World, monkeypatch: pytest.MonkeyPatch, path: str, body: Any
) -> None:
    assert (await world.ask("karl", "POST", path, body)).status_code in (200, 201)
    await world.hub.settled(timeout=PATIENCE)
    reads = counted(monkeypatch)
    monkeypatch.setattr(world.hub._core.parts.log, "committed", lambda events: None)  # nobody is woken by it
    monkeypatch.setattr(world.hub._core.tails, "on_commit", lambda commit: None)
    answer = await world.ask("karl", "POST", path, body)
    assert answer.status_code in (200, 201)
    assert reads == []


async def test_the_newest_messages_are_read_with_two_looks(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """At the token, and at the conversation: whether the caller is in it, and whether what is kept still holds."""
    newest = ("karl", "GET", f"{MESSAGES}?before={MAX_JSON_INTEGER}&limit=3")
    for text in ("one", "two", "three"):
        await world.hub.post("room", text)
    await world.hub.settled(timeout=PATIENCE)
    first = await world.ask(*newest)
    reads = counted(monkeypatch)
    again = await world.ask(*newest)
    assert again.text == first.text
    assert len(again.json()["messages"]) == 3
    assert reads == ["records", "version"]


async def test_somebody_who_leaves_is_refused_with_the_next_post(world: World) -> None:
    assert (await world.ask("karl", "POST", MESSAGES, {"text": "in"})).status_code == 201
    await world.hub.conversations.leave("room", "karl")
    refused = await world.ask("karl", "POST", MESSAGES, {"text": "out"})
    assert (refused.status_code, refused.json()["name"]) == (404, "conversation_not_found")


async def test_what_is_kept_of_names_may_be_wrong_and_the_decision_looks_again(world: World) -> None:
    directory = world.hub._core.directory
    bob, quiet = directory.called("bob"), directory.called("quiet")
    known = {id: who for id, who in directory._people.items() if who is not bob}
    directory._people = {**known, quiet.id: structs.replace(quiet, name="bob")}
    answer = await world.ask("karl", "POST", "/api/agents/bob/messages", {"message": "hello"})
    assert answer.status_code == 200
    pair = await world.hub.conversations.get(answer.json()["id"].rpartition(":")[0])
    assert {directory.called(seat.name).id for seat in pair.participants} == {"karl", bob.id}


async def test_where_a_task_is_to_be_reported_tells_nothing_of_conversations_of_others(world: World) -> None:
    await world.hub.links.create("bob", "arya", relationship="superior")
    await world.hub.conversations.create("boardroom", participants=["quiet"])
    answers = []
    for ref in ("boardroom", "boardrom"):
        body = {"to": "arya", "task": "x", "conversation": ref}
        answer = await world.ask("bob", "POST", "/api/tasks", body)
        answers.append((answer.status_code, answer.text.replace(ref, "…")))
    assert answers[0] == answers[1]
    assert answers[0][0] == 404
    assert await world.hub.tasks.list() == []
