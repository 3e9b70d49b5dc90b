"""Shared notes where agents work: in their turns, by the tools of a model, and in a chat (SPEC S-15)."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from msgspec import json

from moot import Hub, agent
from moot.errors import BadValue, Conflict, NotFound
from moot.hub.commands.slash import At, carry_out
from moot.model.records.note import NOTE_VERSIONS, NOTES
from moot.rules import audit
from moot.rules.words import slash
from moot.settings import Home, load
from moot.testing.fake_llm import Answer, FakeLLM, Request, ScriptedCall
from moot.wiring import configured_agents
from tests.support.beneath import store_of

pytestmark = pytest.mark.req("S-15")


@agent("arya")
async def arya(turn: Any) -> str:
    """Does what she is told to do with the note, and says what came of it."""
    note = await turn.hub.notes.append("deploy", f"{turn.agent}: {turn.text}")
    return f"v{note.version}"


async def test_an_agent_writes_in_its_turn_as_itself(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        await hub.notes.create("deploy", "started")
        await hub.notes.share("deploy", "arya", "read_write")
        assert (await hub.ask("arya", "green", timeout=40)).text == "v2"
        note = await hub.notes.get("deploy")
        assert (note.text, note.updated_by) == ("started\narya: green", "arya")


async def test_notes_outlive_the_hub_with_their_chain(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        await hub.notes.create("deploy", "one")
        await hub.notes.share("deploy", "arya", "read")
        for number, text in enumerate(("two", "three", "two"), 1):
            await hub.notes.write("deploy", text, version=number)
    async with Hub.open(tmp_path) as hub:
        assert [version.version for version in await hub.notes.history("deploy")] == [4, 3, 2, 1]
        assert (await hub.acting_as("arya").notes.get("deploy")).text == "two"
        store = store_of(hub)
        [note] = await store.records(NOTES.one("deploy"))
        versions = [(await store.records(NOTE_VERSIONS.one("deploy", n)))[0] for n in range(1, 5)]
        assert audit.verify_note(note, versions) is None


async def test_who_renamed_itself_or_was_removed_keeps_its_name_in_the_history(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.create("bran")
        await hub.notes.create("deploy", "one")
        await hub.notes.share("deploy", "bran", "read_write")
        await hub.acting_as("bran").notes.write("deploy", "two", version=1)
        await hub.agents.rename("bran", "raven")
        assert (await hub.notes.get("deploy")).updated_by == "raven"
        assert [each.agent for each in await hub.notes.permissions("deploy")] == ["raven"]
        await hub.agents.remove("raven")
        assert (await hub.notes.history("deploy"))[0].by == "raven"
        with pytest.raises(NotFound):
            await hub.notes.share("deploy", "raven", "read")


# --- a model ---------------------------------------------------------------------------------------------

TOML = """
[groups]
cooldown_seconds = 0.0
[[agents]]
name = "ann"
brain = "openai:ann@{url}"
tools = ["notes"]
"""


@asynccontextmanager
async def thinking(home: Path, script: Any) -> AsyncIterator[tuple[Hub, FakeLLM]]:
    """A hub with an agent that a scripted model thinks for, with the tools of notes."""
    async with FakeLLM(script) as llm:
        place = Home(home)
        place.make()
        place.toml.write_text(TOML.format(url=llm.openai_url))
        async with Hub.open(home, agents=configured_agents(load(place), place)) as hub:
            await hub.notes.create("deploy", "canary: red")
            await hub.notes.create("secret", "hush")
            yield hub, llm


def steps(*calls: ScriptedCall) -> Any:
    """A model that makes these calls, one after the other, and then says what the last one told it."""

    def script(request: Request) -> Answer:
        results = [line["content"] for line in request.body["messages"] if line["role"] == "tool"]
        return Answer("", calls=(calls[len(results)],)) if len(results) < len(calls) else Answer(results[-1])

    return script


@pytest.mark.req("P-03")
async def test_a_model_reads_and_writes_the_notes_of_its_agent(tmp_path: Path) -> None:
    calls = (
        ScriptedCall("read_shared_note", {"name": "deploy"}),
        ScriptedCall("write_shared_note", {"name": "deploy", "text": "canary: green", "version": 1}),
    )
    async with thinking(tmp_path, steps(*calls)) as (hub, llm):
        await hub.notes.share("deploy", "ann", "read_write")
        answer = await hub.ask("ann", "update it", timeout=40)
        assert json.decode(answer.text) == {"name": "deploy", "version": 2}
        note = await hub.notes.get("deploy")
        assert (note.text, note.updated_by) == ("canary: green", "ann")
        offered = {tool["function"]["name"] for tool in llm.requests[0].body["tools"]}
        assert offered == {"read_shared_note", "write_shared_note"}


@pytest.mark.req("P-03")
@pytest.mark.parametrize(
    ("call", "told"),
    [
        (ScriptedCall("read_shared_note", {"name": "secret"}), 'no note of yours is called "secret"'),
        (ScriptedCall("read_shared_note", {"name": "nowhere"}), 'no note of yours is called "nowhere"'),
        (ScriptedCall("write_shared_note", {"name": "deploy", "text": "x"}), "but not write it"),
        (ScriptedCall("read_shared_note", {}), "missing required field"),
        (ScriptedCall("read_shared_note", {"name": "deploy", "as": "user"}), "unknown field"),
    ],
)
async def test_what_a_model_may_not_is_told_to_it_and_its_turn_goes_on(
    tmp_path: Path, call: ScriptedCall, told: str
) -> None:
    async with thinking(tmp_path, steps(call)) as (hub, _):
        await hub.notes.share("deploy", "ann", "read")
        answer = (await hub.ask("ann", "go on", timeout=40)).text
        assert told in answer.replace('\\"', '"')
        assert "hush" not in answer
        assert (await hub.notes.get("deploy")).version == 1


@pytest.mark.req("P-03")
async def test_a_model_that_was_overtaken_is_told_what_stands(tmp_path: Path) -> None:
    call = ScriptedCall("write_shared_note", {"name": "deploy", "text": "mine", "version": 1})
    async with thinking(tmp_path, steps(call)) as (hub, _):
        await hub.notes.share("deploy", "ann", "read_write")
        await hub.notes.write("deploy", "by a person", version=1)
        told = json.decode((await hub.ask("ann", "update it", timeout=40)).text)
        assert (told["current_version"], told["current_text"], told["updated_by"]) == (
            2,
            "by a person",
            "user",
        )


# --- a chat ----------------------------------------------------------------------------------------------


async def test_a_note_is_shown_and_added_to_in_a_chat(tmp_path: Path) -> None:
    async with Hub.open(tmp_path, agents=[arya]) as hub:
        at = At(hub, await hub.conversations.create("room", participants=["arya"]))

        async def typed(line: str) -> tuple[str, ...]:
            command = slash.parse(line)
            assert not isinstance(command, slash.Say)
            return (await carry_out(command, at)).lines

        assert await typed("/note") == ("there are no notes yet",)
        with pytest.raises(NotFound):
            await typed("/note deploy")
        await hub.notes.create("deploy", "one")
        assert await typed("/note deploy += two\nthree") == ("deploy is at v2 now",)
        assert await typed("/note deploy") == ("deploy, v2 by user", "one", "two", "three")
        assert await typed("/notes") == ("deploy, v2 by user",)
        with pytest.raises(BadValue, match="nothing was done"):
            await typed("/note deploy two")
        assert await hub.messages("room") == [], "a note is not said"


async def test_a_note_has_so_many_versions_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.rules.notes.MAX_VERSIONS", 3)
    async with Hub.open(tmp_path) as hub:
        await hub.notes.create("plan", "one")
        for text in ("two", "three"):
            await hub.notes.append("plan", text)
        with pytest.raises(Conflict, match="plan has 3 versions") as refused:
            await hub.notes.append("plan", "four")
        assert "go on in a new note" in refused.value.detail
        assert (await hub.notes.get("plan")).version == 3
