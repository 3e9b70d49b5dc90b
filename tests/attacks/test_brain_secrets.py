"""A key in the address of a brain must not be stored, shown to others, or carried into backups (B3)."""

import asyncio
from pathlib import Path
from typing import Any, ClassVar

import apsw
import pytest
from msgspec import structs

from moot import Hub, wiring
from moot.brains.code import AgentSpec
from moot.brains.demo import DemoModel
from moot.brains.llm.brain import NoAnswer
from moot.brains.llm.endpoint import ModelEndpoint
from moot.brains.llm.provider_errors import trouble_of
from moot.brains.llm.retry import Retries
from moot.brains.llm.trouble import ModelTrouble, TroubleKind
from moot.errors import BadSettings
from moot.flow import summarise
from moot.host import hosted
from moot.host.clock import SystemClock
from moot.hub.archive import backups
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId
from moot.model.prompt import Usage
from moot.rules.words.redact import bare_brain
from moot.settings import AgentSettings, Home, load
from moot.testing.fake_llm import Answer, Fault
from tests.doors.http import world as doors_world
from tests.doors.http.world import opened
from tests.support.talking import PROVIDERS, prompt_of, talking
from tests.support.waiting import PATIENCE

SECRET = "canaryQ8z"
LEAKY = {
    f"openai:m@http://user:{SECRET}@host.test/v1": "openai:m@http://host.test/v1",
    f"openai:m@http://{SECRET}@host.test:8080/v1": "openai:m@http://host.test:8080/v1",
    f"openai:m@http://user:p@{SECRET}@host.test/v1": "openai:m@http://host.test/v1",
    f"openai:m@http://user:p/{SECRET}@host.test/v1": "openai:m@http://host.test/v1",
    f"openai:m@http://user:p?{SECRET}@host.test/v1": "openai:m@http://host.test/v1",
    f"openai:m@https://host.test/v1?key={SECRET}": "openai:m@https://host.test/v1",
    f"openai:m@https://host.test/v1#{SECRET}": "openai:m@https://host.test/v1",
    f"openai:m@http://{SECRET}/x@host.test/v1": "openai:m@http://host.test/v1",
    f"openai:m@http://host.test:80/a@b/v1?key={SECRET}": "openai:m@http://host.test:80/a@b/v1",
    f"a2a:https://user:{SECRET}@host.test/agent": "a2a:https://host.test/agent",
}
PLAIN = [
    "demo",
    "external",
    "code:module:attr",
    "anthropic:claude-haiku-5-5",
    "openai:llama3@http://127.0.0.1:11434/v1",
    "openai:m@http://h:8080/a@b/v1",
    "openai:m@https://host.test/a@b/v1",
    "openai:m@http://[::1]/a@b/v1",
]


@pytest.mark.parametrize("brain", PLAIN)
def test_a_brain_without_a_secret_stays_as_it_is(brain: str) -> None:
    assert bare_brain(brain) == brain


@pytest.mark.parametrize(("brain", "bare"), LEAKY.items())
def test_a_brain_is_known_by_its_bare_address(brain: str, bare: str) -> None:
    assert bare_brain(brain) == bare
    assert bare_brain(f"command:curl -H {SECRET} {brain}") == "command:curl"


AGENT, SUMMARY = '[[agents]]\nname = "a"\nbrain = "{}"', '[context]\nsummary_brain = "{}"'


@pytest.mark.parametrize(
    ("place", "brain"),
    [
        *((AGENT, brain) for brain in LEAKY),
        *((SUMMARY, brain) for brain in LEAKY if brain.startswith("openai")),
    ],
)
def test_settings_with_a_key_in_an_address_are_refused_without_repeating_it(
    place: str, brain: str, home: Home
) -> None:
    home.toml.write_text(place.format(brain))
    with pytest.raises(BadSettings) as refused:
        load(home)
    assert "its address; expected the bare address" in refused.value.title
    [key] = [way for way in refused.value.fix if isinstance(way, Hint) and way.act is Act.SET_KEY]
    assert key.provider.startswith("host.test")
    assert SECRET not in str(refused.value.to_dict())
    home.toml.write_text(place.format(bare_brain(brain)))
    load(home)


def test_a_key_that_comes_from_a_variable_is_refused_too(home: Home) -> None:
    home.toml.write_text('[[agents]]\nname = "a"\nbrain = "openai:m@http://u:${PASSWORD}@host.test/v1"')
    with pytest.raises(BadSettings) as refused:
        load(home, {"PASSWORD": SECRET})
    assert SECRET not in str(refused.value.to_dict())


async def test_a_key_that_was_stored_once_is_cleaned_out_of_the_database_and_of_new_backups(
    home: Home,
) -> None:
    """Version 0.1 stored brains as they were written."""
    async with Hub.open(home.path) as hub:
        for name in ("old", *(f"old-{number}" for number in range(2, 30))):
            await hub.agents.create(name)
    connection = apsw.Connection(str(home.db))
    connection.execute("UPDATE registry SET brain = ? WHERE id LIKE 'old%'", (next(iter(LEAKY)),))
    connection.close()
    assert SECRET.encode() in home.db.read_bytes()
    async with Hub.open(home.path) as hub:
        assert (await hub.agents.get("old")).brain == "openai:m@http://host.test/v1"
    made = backups.create(home).path
    for path in (home.db, made):
        assert SECRET.encode() not in path.read_bytes()


def test_a_query_that_is_no_secret_is_refused_as_what_it_is(home: Home) -> None:
    home.toml.write_text(AGENT.format("openai:m@https://host.test/openai?api-version=2024-10-21"))
    with pytest.raises(BadSettings, match="has a user, a password or a query in its address") as refused:
        load(home)
    assert "write openai:m@https://host.test/openai, and set the key" in str(refused.value.to_dict())


MODEL = "openai:m@http://10.0.0.5:11434/v1"


async def test_no_message_says_which_model_made_it(home: Home) -> None:
    row = AgentSettings(name="arya", brain=MODEL)
    assert wiring.spec(row, home).brain == ""
    assert wiring.spec(structs.replace(row, brain="demo"), home).brain == "demo/1"  # demo words are marked

    async def think(turn: Any) -> str:
        return "noted"

    old = AgentSpec("arya", think, brain=MODEL)  # as version 0.1 marked its messages
    async with Hub.open(home.path, agents=[old]) as hub:
        asked = await hub.send("arya", "hello")
        await hub.settled(asked.conversation, timeout=40)
        said = await hub.messages(asked.conversation)
        told = (await hub.history.past(0, types=["message.posted"])).events
    assert [one.text for one in said] == ["hello", "noted"]
    assert "10.0.0.5" not in f"{said} {told}"


@pytest.mark.req("K-03")
async def test_no_summary_says_which_model_made_it(home: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(DemoModel, "name", MODEL)
    home.toml.write_text('[context]\nsummary_brain = "demo"\nsummary_messages = 8\n')
    async with Hub.open(home.path) as hub:
        await hub.conversations.create("room")
        for number in range(12):
            await hub.post("room", f"point {number}")
        async with asyncio.timeout(PATIENCE):
            async for event in hub.events(types=("conversation.summarised",), after=0):
                assert event.body["context"] == "summary:agent:model"
                assert "10.0.0.5" not in str(event)
                break
        where, old = await hub.conversations.create("other"), MODEL
        await hub.post("other", "hello")
        command = summarise.Summarise(ConversationId(where.id), 0, 1, "short", old)  # as version 0.1 did
        await hub._core.do(summarise, command)
        told = (await hub.history.past(0, types=["conversation.summarised"])).events
        assert [event.body["context"] for event in told] == ["summary:agent:model"] * 2
        assert "10.0.0.5" not in str(told)


async def test_what_an_agent_thinks_with_is_told_to_its_owner_alone(tmp_path: Path) -> None:
    async with opened(tmp_path) as world:
        whole = (await world.get("/api/agents/arya")).json()
        assert whole["brain"] == "code"
        for who in ("arya", "karl", "bob"):
            told = (await world.ask(who, "GET", "/api/agents/arya")).json()
            assert {**told, "brain": "code"}.keys() == whole.keys()
            assert told["brain"] == ""
            listed = (await world.ask(who, "GET", "/api/agents")).json()["agents"]
            assert {one["brain"] for one in listed} == {""}
        await world.ask("bob", "PUT", "/api/agents/bob", {"name": "robert"})
        async for event in world.hub.events(types=("agent.renamed",), after=0):
            assert event.body["name"] == "robert"
            assert "brain" not in event.body
            break


async def test_which_model_a_turn_used_is_told_to_the_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted.Running, "spent", {"calls": 1, "model": SECRET})
    async with opened(tmp_path) as world:
        await world.post("/api/conversations/room/messages", {"text": "@arya hello"})
        await world.hub.settled("room", timeout=40)
        [whole] = (await world.get("/api/turns?agent=arya")).json()["turns"]
        assert whole["usage"] == {"calls": 1, "model": SECRET}
        for who in ("arya", "karl"):
            [listed] = (await world.ask(who, "GET", "/api/turns?agent=arya")).json()["turns"]
            one = (await world.ask(who, "GET", f"/api/turns/{whole['id']}")).json()
            assert listed["usage"] == one["usage"] == {"calls": 1}
        told = (await world.hub.history.past(0, types=["turn.finished"])).events
        assert {turn.by: turn.body["usage"] for turn in told}["arya"] == {"calls": 1}
        assert SECRET not in str(told), "everybody gets the same event"


async def test_which_model_failed_is_told_to_the_owner_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(hosted.Running, "spent", {"calls": 1, "model": SECRET})

    async def broken(turn: Any) -> str:
        raise NoAnswer("could not answer")

    monkeypatch.setattr(doors_world, "arya", AgentSpec("arya", broken))
    async with opened(tmp_path) as world:
        await world.post("/api/conversations/room/messages", {"text": "@arya hello"})
        await world.hub.settled("room", timeout=40)
        letters = {
            who: (await world.ask(who, "GET", "/api/dead-letters")).json()["turns"]
            for who in ("owner", "karl", "arya")
        }
        assert {who: [turn["usage"].get("model") for turn in found] for who, found in letters.items()} == {
            "owner": [SECRET],
            "karl": [None],
            "arya": [None],
        }


class NoSuchModel(Exception):
    """As the libraries of the providers raise it."""

    status_code = 404
    body: ClassVar = {"error": {"code": "model_not_found"}}


@pytest.mark.parametrize("provider", PROVIDERS)
async def test_no_trouble_with_a_model_says_which_it_is(provider: str) -> None:
    """The sentence becomes a notice that everybody in the conversation reads."""
    own = ModelEndpoint(provider, provider, SECRET, "http://10.0.0.5/v1", provider, None, True, 5.0, 100)
    unknown = trouble_of(NoSuchModel(), own, Usage())
    assert unknown.kind is TroubleKind.UNKNOWN_MODEL
    assert SECRET not in unknown.sentence
    async with talking(provider, Answer("no", fault=Fault.STORM), model=SECRET) as here:
        patience = Retries(SystemClock(), first_pause=0.001)
        troubles = []
        for _ in range(3):
            with pytest.raises(ModelTrouble) as failed:
                await patience.complete(
                    here.model, prompt_of("hello"), here.ear, deadline=patience.now() + 60
                )
            troubles.append(failed.value)
    assert troubles[-1].kind is TroubleKind.RESTING
    assert SECRET not in " ".join(trouble.sentence for trouble in troubles)
