"""Bad input, seen through the Python SDK: what was wrong is said with its code, and nothing is stored."""

from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.client.transport.refusal import error_from
from moot.errors import BadName, BadText, BadValue, NotFound


@pytest.mark.parametrize(
    ("text", "problem"),
    [("", "empty"), ("a\x00b", "nul"), ("\ud800", "surrogate"), ("x" * 300_000, "too_long"), (7, "type")],
)
async def test_a_text_that_cannot_be_stored_is_refused_and_nothing_is_stored(
    tmp_path: Path, text: Any, problem: str
) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.conversations.create("room")
        with pytest.raises(BadText) as raised:
            await hub.post("room", text)
        assert raised.value.facts["problem"] == problem
        assert raised.value.code == "E203"
        assert await hub.messages("room") == []


@pytest.mark.parametrize("name", ["system", "tool", "all", "user", "Arya", "a b", "../x", "adrnin", "а"])
async def test_reserved_confusable_and_misshapen_names_are_refused(tmp_path: Path, name: str) -> None:
    async with Hub.open(tmp_path) as hub:
        with pytest.raises(BadName) as raised:
            await hub.agents.create(name)
        assert raised.value.code == "E202"
        assert await hub.agents.list() == []


async def test_unknown_names_come_back_with_near_ones(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.create("gendry")
        with pytest.raises(NotFound) as raised:
            await hub.send("gendri", "hello")
        assert (raised.value.code, raised.value.suggestions) == ("E201", ("gendry",))
        with pytest.raises(NotFound):
            await hub.post("nowhere", "hello")


async def test_who_asks_for_an_agent_is_not_told_of_conversations(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.conversations.create("gendarmes")
        with pytest.raises(NotFound) as found_by_the_hub:
            await hub.send("gendarme", "hello")
        with pytest.raises(NotFound) as found_by_a_verb:
            await hub.conversations.create("room", participants=("gendarme",))
        with pytest.raises(NotFound) as without_a_name:
            await hub.send("", "hello")
        for raised in (found_by_the_hub, found_by_a_verb, without_a_name):
            assert "gendarmes" not in repr(raised.value.to_dict())
            assert "what" not in raised.value.facts


async def test_the_name_of_an_error_says_what_was_not_found_here_and_elsewhere(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        room = await hub.conversations.create("room")
        for attempt, name in (
            (hub.send("gendri", "hello"), "agent_not_found"),
            (hub.agents.get("gendri"), "agent_not_found"),
            (hub.conversations.create("other", participants=["gendri"]), "agent_not_found"),
            (hub.post("nowhere", "hello"), "conversation_not_found"),
            (hub.conversations.get("nowhere"), "conversation_not_found"),
            (hub.message("room:7"), "message_not_found"),
            (hub.edit(f"{room.id}:7", "x", version=1), "message_not_found"),
            (hub.post("room", "hello", reply_to=f"{room.id}:7"), "message_not_found"),
            (hub.turn("7"), "turn_not_found"),
        ):
            with pytest.raises(NotFound) as raised:
                await attempt
            told = raised.value.to_dict()
            assert (told["code"], told["name"]) == ("E201", name)
            again = error_from(told)
            assert isinstance(again, NotFound)
            assert again.to_dict() == told


async def test_a_preview_is_refused_as_the_post_would_be(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.conversations.create("room")
        for asking in (hub.preview, hub.post):
            with pytest.raises(NotFound) as raised:
                await asking("rooom", "hello")
            assert raised.value.suggestions == ("room",)


async def test_what_is_no_message_is_not_taken_for_a_name(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        made = await hub.conversations.create("room")
        await hub.conversations.create(f"{made.id}-99")
        with pytest.raises(NotFound) as raised:
            await hub.delete(f"{made.id}:99", version=1)
        assert (raised.value.suggestions, raised.value.facts["ref"]) == ((), f"{made.id}:99")


@pytest.mark.parametrize(
    "place",
    [
        '[store]\nurl = "sqlite:other.db"',
    ],
)
async def test_a_store_or_log_this_version_lacks_is_refused_and_nothing_is_kept_elsewhere(
    tmp_path: Path, place: str
) -> None:
    (tmp_path / "moot.toml").write_text(place)
    with pytest.raises(BadValue, match="does not support"):
        async with Hub.open(tmp_path):
            pass
    assert not (tmp_path / "moot.db").exists()
