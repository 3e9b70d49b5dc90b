"""What an agent is given, summed up where it is long, and shown again to whoever asks (G-15, M-06, S-08, G-16)."""

import re
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub, agent
from moot.brains.code import AgentSpec
from moot.errors import NotFound
from moot.model.prompt import Prompt
from tests.support.beneath import store_of
from tests.support.waiting import until

SETTINGS = """
[groups]
cooldown_seconds = 0.0
reactive_round = false
[limits]
agent_turns_per_hour = 100000
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    (tmp_path / "moot.toml").write_text(SETTINGS)
    return tmp_path


def prompted(name: str, prompts: list[Prompt], reply: str = "noted", **options: Any) -> AgentSpec:
    """An agent that looks at the prompt a model would get."""

    async def think(turn: Any) -> str:
        prompts.append(await turn.prompt())
        return reply

    return AgentSpec(name, think, prompted=True, **options)


def flat(prompt: Prompt) -> str:
    return "\n".join(f"{line.role}: {line.content}" for line in prompt.lines)


@pytest.mark.req("G-16", "K-06", "G-07")
async def test_a_prompt_says_who_is_here_what_is_new_and_whether_to_answer(home: Path) -> None:
    prompts: list[Prompt] = []
    specs = [prompted("arya", prompts, role="backend engineer"), prompted("bob", [], PASS, role="tester")]
    async with Hub.open(home, agents=specs) as hub:
        await hub.conversations.create("build", participants=["arya", "bob"])
        await hub.post("build", "@arya is it green?")
        await hub.settled("build")
        await hub.post("build", "anything else?")
        await hub.settled("build")
    first, second = prompts
    assert first.system.startswith("You are arya, backend engineer.")
    assert (
        "\n## Where you are\nYou are in a group with:\n- user (human)\n- bob (agent): tester\n\n"
        in first.system
    )
    assert re.search(
        r"\n\[About this conversation\]: <([0-9a-f]{10})>\nthis group: build\n</\1>\n", first.system
    )
    assert "arya (agent)" not in first.system
    assert first.lines[0].content.startswith('[From human "user"]: #1 <')
    assert first.lines[-1].content == (
        "[Moot]: New since your last turn: #1. You were mentioned in #1: answer."
    )
    assert [line.role for line in second.lines] == ["user", "user", "assistant", "user", "user"]
    assert second.lines[2].content == "noted"
    assert "New since your last turn: #2 to #3." in second.lines[-1].content
    assert "reply with exactly [PASS]" in second.lines[-1].content


@pytest.mark.req("M-06")
async def test_a_prompt_begins_with_all_of_the_last_one(home: Path) -> None:
    prompts: list[Prompt] = []
    async with Hub.open(home, agents=[prompted("arya", prompts), prompted("bob", [])]) as hub:
        await hub.conversations.create("build", participants=["arya", "bob"])
        for n in range(6):
            await hub.post("build", f"@arya @bob question {n}")
            await hub.settled("build")
        turns = [t for t in await hub.turns(conversation="build") if t.agent == "arya"]
    for before, after in pairwise(prompts):
        assert after.system == before.system
        assert after.lines[: len(before.lines)] == before.lines
        assert before.stable == len(before.lines)
    assert len(turns) == 6


@pytest.mark.req("S-08")
async def test_identity_files_are_read_fresh_each_turn(home: Path) -> None:
    prompts: list[Prompt] = []
    async with Hub.open(home, agents=[prompted("arya", prompts)]) as hub:
        workspace = home / "agents" / "arya"
        workspace.mkdir(parents=True)
        for text in ("I am calm.", "I am in a hurry."):
            (workspace / "SOUL.md").write_text(text)
            await hub.ask("arya", "hello", timeout=40)
        (workspace / "SOUL.md").write_bytes(b"\xff\xfe broken")
        (workspace / "ROLE.md").write_text("x" * 100_000)
        await hub.ask("arya", "hello", timeout=40)
    assert ["I am calm." in p.system for p in prompts] == [True, False, False]
    assert ["I am in a hurry." in p.system for p in prompts] == [False, True, False]
    assert "broken" in prompts[2].system
    assert prompts[2].system.count("x") < 66_000


@pytest.mark.req("S-07")
async def test_the_owners_templates_win_and_a_broken_one_is_told(home: Path) -> None:
    prompts: list[Prompt] = []
    own = home / "templates"
    own.mkdir()
    (own / "system.md.j2").write_text("Only {{ agent.name }} in {{ conversation.kind }}.")
    async with Hub.open(home, agents=[prompted("arya", prompts)]) as hub:
        await hub.ask("arya", "hello", timeout=40)
        assert prompts[0].system == "Only arya in direct."
        (own / "system.md.j2").write_text("First line.\n{{ nothing.at.all }}")
        receipt = await hub.send("arya", "hello again")
        await hub.settled(receipt.conversation)
        [failed] = [t for t in await hub.turns(conversation=receipt.conversation) if t.state == "failed"]
        assert "system.md.j2" in str(failed.error)
        assert "'nothing' is undefined" in str(failed.error)


@pytest.mark.req("G-15", "K-03", "A-08")
async def test_long_groups_get_a_summary_that_the_view_uses_and_nobody_is_woken_by(home: Path) -> None:
    (home / "moot.toml").write_text(
        SETTINGS + '[context]\nsummary_brain = "demo"\nsummary_messages = 8\nsummary_words = 50\n'
    )
    prompts: list[Prompt] = []
    spec = prompted("arya", prompts, context_messages=6)
    async with Hub.open(home, agents=[spec]) as hub:
        await hub.conversations.create("build", participants=["arya"])
        await hub.post("build", "we build a boat")
        for n in range(2, 21):
            await hub.post("build", f"point {n}", max_turns=1)
            await hub.settled("build")
        store = store_of(hub)
        where = (await hub.conversations.get("build")).id
        summary = await until(
            lambda: store.summary(where, upto=10**9), lambda s: s is not None and s.upto >= 16
        )
        assert summary.context == "summary:agent:demo"
        told = [event.body for event in (await hub.history.past(0, types=["conversation.summarised"])).events]
        assert {body["context"] for body in told} == {"summary:agent:demo"}
        assert "we build a boat" in (await store.summary_of(where, 1)).text
        heads = {m.seq for m in await hub.messages("build", limit=500)}
        assert heads == set(range(1, len(heads) + 1)), "a summary has no seq"
        turns = await hub.turns(conversation="build")
        await hub.post("build", "@arya so?")
        await hub.settled("build")
        assert len(await hub.turns(conversation="build")) == len(turns) + 1
    shown = flat(prompts[-1])
    assert "This summary replaces the messages before it." in shown
    assert re.search(r"\[Summary of #1 to #(8|16|24|32)\]: <", shown)
    assert "This conversation began with a task:" in shown
    assert shown.index("we build a boat") < shown.index("so?")


@pytest.mark.req("G-15")
async def test_a_deleted_message_leaves_no_trace_in_a_summary(home: Path) -> None:
    (home / "moot.toml").write_text(SETTINGS + '[context]\nsummary_brain = "demo"\nsummary_messages = 4\n')
    async with Hub.open(home) as hub:
        await hub.conversations.create("build")
        secret = await hub.post("build", "the word is swordfish")
        store = store_of(hub)

        async def summed_up() -> Any:
            """It is made when something more is said, unless one is being made."""
            await hub.post("build", "a point")
            return await store.summary(secret.conversation, upto=10**9)

        found = await until(summed_up, lambda summary: summary is not None)
        assert "swordfish" in found.text
        await hub.delete(secret.id, version=1)
        left = await store.summary(secret.conversation, upto=10**9)
        assert left is None or "swordfish" not in left.text, "one that was made anew by now"
        found = await until(summed_up, lambda summary: summary is not None)
        assert "swordfish" not in found.text


@pytest.mark.req("M-06")
async def test_the_inspector_shows_exactly_what_was_given_even_after_a_rename(home: Path) -> None:
    prompts: list[Prompt] = []
    async with Hub.open(home, agents=[prompted("arya", prompts), prompted("bob", [])]) as hub:
        await hub.conversations.create("build", participants=["arya", "bob"])
        await hub.post("build", "@bob first")
        await hub.settled("build")
        receipt = await hub.post("build", "@arya what did bob say?")
        await hub.settled("build")
        [turn] = [t for t in await hub.turns(conversation="build") if t.agent == "arya" and t.lo >= 2][:1]
        await hub.agents.rename("bob", "robert")
        given = (await hub.turn(turn.id)).given
        assert given is not None
        assert given["exact"] is True
        shown = next(p for p in prompts if f"#{receipt.seq}" in p.lines[-1].content)
        assert given["system"] == shown.system
        assert given["messages"] == [{"role": line.role, "content": line.content} for line in shown.lines]
        edited = await hub.edit(receipt.id, "@arya what did he say?", version=1)
        assert edited.version == 2
        again = (await hub.turn(turn.id)).given
        assert again is not None
        assert again["exact"] is False


@pytest.mark.req("M-06")
async def test_the_inspector_works_for_agents_that_are_code(home: Path) -> None:
    seen: list[tuple[str, str]] = []

    @agent("arya")
    async def arya(turn: Any) -> str:
        seen.extend((m.role, m.content) for m in turn.messages)
        return "ok"

    async with Hub.open(home, agents=[arya]) as hub:
        await hub.ask("arya", "hello", timeout=40)
        [turn] = await hub.turns(agent="arya")
        given = (await hub.turn(turn.id)).given
        assert given is not None
        assert [(m["role"], m["content"]) for m in given["messages"]] == seen
        assert given["tools"] == []


@pytest.mark.req("M-06")
async def test_what_an_agent_would_be_given_now(home: Path) -> None:
    (home / "moot.toml").write_text(
        SETTINGS + '[[agents]]\nname = "arya"\nbrain = "openai:m@http://127.0.0.1:1/v1"\n'
    )
    async with Hub.open(home) as hub:
        await hub.conversations.create("build", participants=["arya"])
        with pytest.raises(NotFound, match="nothing has been said"):
            await hub.inspector.context("arya", "build")
        await hub.post("build", "hello @arya")
        found = await hub.inspector.context("arya", "build")
        assert found["new"] == 1
        assert found["given"]["system"].startswith("You are arya.")
        assert "hello @arya" in found["given"]["messages"][0]["content"]
        await hub.conversations.create("other")
        with pytest.raises(NotFound, match="arya is not in other"):
            await hub.inspector.context("arya", "other")


@pytest.mark.req("G-07", "A-08")
async def test_somebody_who_comes_later_sees_the_history_within_its_window_only(home: Path) -> None:
    prompts: list[Prompt] = []
    late = prompted("late", prompts, context_messages=4)
    async with Hub.open(home, agents=[late]) as hub:
        await hub.conversations.create("build")
        for n in range(10):
            await hub.post("build", f"point {n}")
        await hub.conversations.join("build", "late")
        await hub.post("build", "@late welcome")
        await hub.settled("build")
    shown = flat(prompts[0])
    assert "point 9" in shown
    assert "point 5" not in shown
    assert "#1 to #8 are not shown." in shown
    assert "This conversation began with a task:" in shown


@pytest.mark.req("A-08")
async def test_unread_messages_that_do_not_fit_are_told_as_a_count(home: Path) -> None:
    prompts: list[Prompt] = []
    async with Hub.open(home, agents=[prompted("arya", prompts, context_tokens=200)]) as hub:
        await hub.conversations.create(
            "build", participants=["arya"], settings={"reply_strategy": "mention_only"}
        )
        for n in range(10):
            await hub.post("build", f"point {n} " + "x" * 150)
        await hub.post("build", "@arya read that")
        await hub.settled("build")
    assert "Of these, #1 to #8 did not fit." in prompts[0].lines[-1].content


@pytest.mark.req("K-07")
async def test_a_replay_from_the_first_record_gives_the_same_views(home: Path) -> None:
    @agent("cat")
    async def cat(turn: Any) -> str:
        return f"cat heard {len(turn.messages)}"

    async with Hub.open(home, agents=[prompted("arya", []), cat]) as hub:
        for room in ("one", "two"):
            await hub.conversations.create(room, participants=["arya", "cat"])
            for n in range(3):
                await hub.post(room, f"@arya @cat question {n}")
                await hub.settled(room)
            receipt = await hub.post(room, "@arya @cat and then?")
            await hub.settled(room)
            await hub.edit(receipt.id, "another question", version=1)
            await hub.delete(f"{receipt.conversation}:1", version=1)
        for name in ("arya", "cat"):
            found = await hub.inspector.replay(name)
            assert (found.equal, found.turns, found.conversations, found.gaps) == (True, 8, 2, 0)
