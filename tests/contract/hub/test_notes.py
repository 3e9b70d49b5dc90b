"""Shared notes, the same whichever way a hub is reached (SPEC S-15)."""

import asyncio
from typing import Any

import pytest

from moot import shapes
from moot.errors import BadName, BadText, BadValue, Conflict, NotFound, NotPermitted
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("S-15")


async def test_a_note_is_made_written_read_and_deleted(hub: Any) -> None:
    made = await hub.notes.create("deploy-status", "canary: red")
    assert isinstance(made, shapes.Note)
    assert (made.name, made.version, made.updated_by, made.created_by) == ("deploy-status", 1, "user", "user")
    written = await hub.notes.write("deploy-status", "canary: green", version=1)
    assert (written.version, written.text, written.created_at) == (2, "canary: green", made.created_at)
    assert await hub.notes.get("Deploy-Status") == written
    assert await hub.notes.get("deploy-status", number=1) == made
    assert await hub.notes.list() == [written]
    gone = await hub.notes.delete("deploy-status")
    assert gone == written
    assert await hub.notes.list() == []
    with pytest.raises(NotFound) as refused:
        await hub.notes.get("deploy-status")
    assert (refused.value.name, refused.value.what) == ("note_not_found", "note")


async def test_a_stale_write_is_refused_with_both_texts(hub: Any) -> None:
    await hub.notes.create("deploy", "one")
    await hub.notes.write("deploy", "two", version=1)
    with pytest.raises(Conflict) as stale:
        await hub.notes.write("deploy", "mine", version=1)
    facts = {"current_version": 2, "current_text": "two", "your_text": "mine", "updated_by": "user"}
    assert stale.value.facts.items() >= facts.items()
    assert (await hub.notes.write("deploy", "mine", version=None)).version == 3
    assert (await hub.notes.append("deploy", "and more")).text == "mine\nand more"


async def test_of_many_that_write_at_once_one_is_first_and_nothing_appended_is_lost(hub: Any) -> None:
    await hub.notes.create("deploy", "start")
    writes = [hub.notes.write("deploy", f"by {number}", version=1) for number in range(8)]
    found = await asyncio.gather(*writes, return_exceptions=True)
    assert [type(each) for each in found].count(shapes.Note) == 1
    assert [type(each) for each in found].count(Conflict) == 7
    await asyncio.gather(*[hub.notes.append("deploy", f"line {number}") for number in range(8)])
    note = await hub.notes.get("deploy")
    assert note.version == 10
    assert sorted(note.text.splitlines()[1:]) == [f"line {number}" for number in range(8)]


async def test_history_diff_and_revert(hub: Any) -> None:
    await hub.notes.create("deploy", "a\nb")
    for number, text in enumerate(("a\nc", "a\nc\nd"), 1):
        await hub.notes.write("deploy", text, version=number)
    told = await hub.notes.history("deploy")
    assert [(v.version, v.by, v.added, v.removed, v.size) for v in told] == [
        (3, "user", 1, 0, 5),
        (2, "user", 1, 1, 3),
        (1, "user", 2, 0, 3),
    ]
    assert [v.version for v in await hub.notes.history("deploy", before=3, limit=1)] == [2]
    assert await hub.notes.history("deploy", before=1) == []
    assert (await hub.notes.diff("deploy")).splitlines()[-3:] == [" a", " c", "+d"]
    assert "-b" in await hub.notes.diff("deploy", 1, 2)
    assert (await hub.notes.diff("deploy", 0, 1)).splitlines()[-2:] == ["+a", "+b"]
    reverted = await hub.notes.revert("deploy", 1)
    assert (reverted.version, reverted.text) == (4, "a\nb")
    for number in (0, 5):
        with pytest.raises((NotFound, BadValue)):
            await hub.notes.get("deploy", number=number)
    with pytest.raises(NotFound):
        await hub.notes.revert("deploy", 9)


async def test_an_agent_has_what_it_was_granted_and_nothing_else_is_there(hub: Any) -> None:
    for name in ("deploy", "secret"):
        await hub.notes.create(name, f"of {name}")
    granted = await hub.notes.share("deploy", "arya", "read")
    assert [(each.agent, each.access, each.by) for each in granted] == [("arya", "read", "user")]
    arya, quiet = hub.acting_as("arya"), hub.acting_as("quiet")
    assert [note.name for note in await arya.notes.list()] == ["deploy"]
    assert (await arya.notes.get("deploy")).text == "of deploy"
    assert await quiet.notes.list() == []
    with pytest.raises(NotPermitted, match="may read deploy, but not write it"):
        await arya.notes.write("deploy", "hers", version=1)
    for hidden in ("secret", "nowhere"):
        for act in (
            arya.notes.get(hidden),
            arya.notes.write(hidden, "x", version=1),
            arya.notes.append(hidden, "x"),
            arya.notes.history(hidden),
            arya.notes.diff(hidden),
            arya.notes.revert(hidden, 1),
            arya.notes.permissions(hidden),
        ):
            with pytest.raises(NotFound) as refused:
                await act
            assert refused.value.title == f'no note of yours is called "{hidden}"'
            assert "secret" not in (*refused.value.suggestions, *refused.value.facts["available"])
    await hub.notes.share("deploy", "arya", "read_write")
    assert (await arya.notes.append("deploy", "and hers")).updated_by == "arya"
    for act in (
        arya.notes.delete("deploy"),
        arya.notes.create("own"),
        arya.notes.share("deploy", "quiet", "read"),
    ):
        with pytest.raises(NotPermitted):
            await act
    with pytest.raises(NotPermitted):
        await arya.notes.permissions("deploy")
    assert await hub.notes.share("deploy", "arya", "none") == await hub.notes.permissions("deploy") == []
    with pytest.raises(NotFound):
        await arya.notes.get("deploy")


async def test_what_cannot_be_is_refused_with_what_could(hub: Any) -> None:
    await hub.notes.create("deploy")
    with pytest.raises(Conflict, match="already exists"):
        await hub.notes.create("deploy")
    written = await hub.notes.write("deploy", "kept", version=1)
    assert await hub.notes.create("deploy", "anew", exist_ok=True) == written
    with pytest.raises(BadName) as shape:
        await hub.notes.create("a b")
    assert shape.value.suggestions == ("a-b",)
    with pytest.raises(BadText):
        await hub.notes.write("deploy", "x" * 300_000, version=1)
    with pytest.raises(NotFound) as near:
        await hub.notes.get("depoly")
    assert near.value.suggestions == ("deploy",)
    assert near.value.facts["available"] == ["deploy"]
    with pytest.raises(BadValue):
        await hub.notes.share("deploy", "arya", "own")
    with pytest.raises(Conflict, match="user is a person"):
        await hub.notes.share("deploy", "user", "read")
    with pytest.raises(NotFound):
        await hub.notes.share("deploy", "nobody", "read")


async def test_what_happens_to_a_note_is_told(hub: Any) -> None:
    start = hub.position
    await hub.notes.create("deploy", "one")
    await hub.notes.write("deploy", "two", version=1)
    await hub.notes.share("deploy", "arya", "read")
    await hub.acting_as("user").notes.delete("deploy")
    told: list[shapes.Event] = []
    async with asyncio.timeout(PATIENCE):
        async for event in hub.events(after=start):
            told += [event] if event.type.startswith("note.") else []
            if event.type == "note.deleted":
                break
    kinds = [(event.type, event.by, event.body["name"], event.body["version"]) for event in told]
    assert kinds == [
        ("note.created", "user", "deploy", 1),
        ("note.changed", "user", "deploy", 2),
        ("note.shared", "user", "deploy", 2),
        ("note.deleted", "user", "deploy", 2),
    ]
    shared = told[2].body
    assert (shared["agent"], shared["access"]) == ("arya", "read")
    assert told[1].body["updated_by"] == "user"
    assert {event.body["text"] for event in told} <= {"", "one", "two"}
