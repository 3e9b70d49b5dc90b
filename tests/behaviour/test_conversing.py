"""Conversations come and go: for one question, for a set of names, for a group; and what waits for whom."""

import asyncio
from pathlib import Path
from typing import Any, get_args

import pytest

from moot import PASS, Hub, agent
from moot.brains.code import AgentSpec
from moot.errors import BadValue, Closed, Conflict, MootError, NotFound, NotPermitted
from moot.host.host import AgentHost
from moot.hub.commands.slash import DOES, At, CommandOutcome, carry_out
from moot.model.hint import Act, Hint
from moot.model.turn import Turn
from moot.rules.words import slash
from tests.support.waiting import PATIENCE, until


def echo(name: str) -> AgentSpec:
    @agent(name)
    async def speak(turn: Any) -> str | None:
        return f"{name} heard: {turn.text.replace('@', '')}" if turn.must_answer else PASS

    return speak


@pytest.fixture
def quick(tmp_path: Path) -> Path:
    (tmp_path / "moot.toml").write_text("[groups]\ncooldown_seconds = 0.0\n")
    return tmp_path


async def texts(hub: Hub, where: str) -> list[str]:
    return [f"{m.sender}: {m.text}" for m in await hub.messages(where) if m.kind != "system"]


# --- ephemeral -----------------------------------------------------------------------------------------------


@pytest.mark.req("A-04")
async def test_in_an_ephemeral_conversation_the_target_answers_first_then_whoever_is_named(
    quick: Path,
) -> None:
    async with Hub.open(quick, agents=[echo("gendry"), echo("arya")]) as hub:
        where = await hub.conversations.ephemeral("arya")
        assert (where.kind, where.home) == ("ephemeral", "arya")
        receipt = await hub.post(where.id, "ask @gendry too")
        await hub.settled(where.id)
        assert [part.agent for part in receipt.deliveries if part.duty == "must"] == ["arya", "gendry"]
        assert await texts(hub, where.id) == [
            "user: ask @gendry too",
            "arya: arya heard: ask gendry too",
            "gendry: gendry heard: ask gendry too",
        ]


@pytest.mark.req("A-04")
async def test_each_question_has_a_conversation_of_its_own_and_a_key_keeps_it_one(quick: Path) -> None:
    async with Hub.open(quick, agents=[echo("arya")]) as hub:
        first, second = [await hub.conversations.ephemeral("arya") for _ in range(2)]
        assert first.id != second.id
        keyed = [await hub.conversations.ephemeral("arya", "send:arya:k") for _ in range(2)]
        assert keyed[0].id == keyed[1].id


# --- implicit ------------------------------------------------------------------------------------------------


@pytest.mark.req("A-03")
async def test_a_set_of_names_has_one_conversation_in_any_order_and_over_restarts(quick: Path) -> None:
    async with Hub.open(quick, agents=[echo("arya"), echo("gendry")]) as hub:
        pair = await hub.conversations.implicit(["arya"])
        assert pair.kind == "direct"
        team = await hub.conversations.implicit(["gendry", "arya"])
        assert team.kind == "group"
        assert (await hub.conversations.implicit(["arya", "gendry", "arya"])).id == team.id
    async with Hub.open(quick) as hub:
        assert (await hub.conversations.implicit(["arya", "gendry"])).id == team.id
        assert (await hub.conversations.implicit(["arya"])).id == pair.id


@pytest.mark.req("A-03")
async def test_a_renamed_agent_keeps_its_conversations(quick: Path) -> None:
    async with Hub.open(quick, agents=[echo("arya"), echo("gendry")]) as hub:
        before = await hub.conversations.implicit(["arya", "gendry"])
        await hub.agents.rename("arya", "brienne")
        assert (await hub.conversations.implicit(["gendry", "brienne"])).id == before.id
        assert (await hub.conversations.implicit(["arya", "gendry"])).id == before.id


# --- groups and the chats they are bound to ------------------------------------------------------------------


@pytest.mark.req("G-11")
async def test_a_group_is_found_by_its_chat_until_it_is_dissolved_and_stays_readable(quick: Path) -> None:
    async with Hub.open(quick, agents=[echo("arya")]) as hub:
        made = await hub.conversations.create("team", participants=["arya"], channel=("telegram", "-100"))
        assert (made.channel_type, made.channel_group_id) == ("telegram", "-100")
        await hub.post("team", "@arya well?")
        await hub.settled("team")

        async def bound(kind: str, group: str) -> list[str]:
            found = await hub.conversations.list(channel_type=kind, channel_group_id=group)
            return [conversation.name for conversation in found]

        assert await bound("telegram", "-100") == ["team"]
        assert await bound("telegram", "-200") == await bound("discord", "-100") == []
        with pytest.raises(Conflict):
            await hub.conversations.create("other", channel=("telegram", "-100"))
        await hub.conversations.dissolve("team")
        assert await bound("telegram", "-100") == []
        closed = await hub.conversations.get(made.id)
        assert (closed.archived, closed.channel_type, closed.channel_group_id) == (True, None, None)
        assert await texts(hub, made.id) == ["user: @arya well?", "arya: arya heard: arya well?"]
        with pytest.raises(Closed):
            await hub.post(made.id, "more?")
        await hub.conversations.create("other", participants=["arya"], channel=("telegram", "-100"))
        assert await bound("telegram", "-100") == ["other"]


@pytest.mark.req("G-11")
async def test_archiving_keeps_the_chat_bound_and_dissolving_it_later_lets_go(quick: Path) -> None:
    async with Hub.open(quick, agents=[echo("arya")]) as hub:
        made = await hub.conversations.create("team", participants=["arya"], channel=("telegram", "-100"))
        await hub.conversations.archive(made.id)
        assert (await hub.conversations.get(made.id)).channel_type == "telegram"
        await hub.conversations.dissolve(made.id)
        assert (await hub.conversations.get(made.id)).channel_type is None


# --- questions and their answers -----------------------------------------------------------------------------


@pytest.mark.req("K-13")
async def test_many_questions_at_once_each_get_their_own_answer(quick: Path) -> None:
    names = [f"a{number}" for number in range(8)]
    async with Hub.open(quick, agents=[echo(name) for name in names]) as hub:
        answers = await asyncio.gather(*(hub.ask(name, f"to {name}", timeout=40) for name in names))
        assert [answer.text for answer in answers] == [f"{name} heard: to {name}" for name in names]
        for answer in answers:
            [question] = await hub.messages(answer.conversation, after=answer.seq - 2, limit=1)
            asked, answered = question.metadata["correlation_id"], answer.metadata["correlation_id"]
            assert asked == answered
        assert len({answer.metadata["correlation_id"] for answer in answers}) == len(names)


@pytest.mark.req("K-13")
async def test_an_answer_to_something_earlier_is_not_taken_for_the_answer(quick: Path) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    @agent("arya")
    async def arya(turn: Any) -> str:
        begun.set()
        await go.wait()
        return f"about {turn.text}"

    async with Hub.open(quick, agents=[arya]) as hub:
        await hub.send("arya", "the first")
        await begun.wait()
        asking = asyncio.create_task(hub.ask("arya", "the second", timeout=40))
        async for event in hub.events(types=("message.posted",), after=hub.position - 1):
            if event.body["text"] == "the second":
                break
        go.set()
        assert (await asking).text == "about the second"


# --- what waits ----------------------------------------------------------------------------------------------


async def test_what_was_not_read_waits_in_the_inbox_until_it_is_read(quick: Path) -> None:
    async with Hub.open(quick, agents=[echo("arya")]) as hub:
        await hub.ask("arya", "one", timeout=40)
        [waiting] = await hub.inbox(unread=True)
        assert (waiting.message.text, waiting.unread) == ("arya heard: one", True)
        assert waiting.to_dict()["unread"] is True
        await hub.conversations.read(waiting.message.conversation, waiting.message.seq)
        assert await hub.inbox(unread=True) == []
        [read] = await hub.inbox()
        assert read.unread is False
        await hub.conversations.read(waiting.message.conversation, 1)
        assert await hub.inbox(unread=True) == []
    async with Hub.open(quick) as hub:
        assert await hub.inbox(unread=True) == []
        await hub.send("arya", "two")
        [owed] = await hub.inbox(agent="arya", unread=True)
        assert owed.message.text == "two"


async def test_an_agents_cursor_moves_with_its_turns_alone(quick: Path) -> None:
    async with Hub.open(quick) as hub:
        await hub.agents.create("arya")
        pair = await hub.conversations.implicit(["arya"])
        await hub.send("arya", "one")
        await hub.acting_as("arya").conversations.read(pair.id, 1)
        assert len(await hub.inbox(agent="arya", unread=True)) == 1


# --- slash commands ------------------------------------------------------------------------------------------


async def does(hub: Hub, where: str, line: str, **more: Any) -> CommandOutcome:
    command = slash.parse(line)
    assert not isinstance(command, slash.Say)
    done = await carry_out(command, At(hub, await hub.conversations.get(where), **more))
    await hub.settled(timeout=40)
    return done


def test_every_command_can_be_carried_out() -> None:
    assert set(DOES) == set(get_args(slash.Command))


@pytest.mark.req("G-12", "G-11")
async def test_the_life_of_a_group_by_slash_commands(quick: Path) -> None:
    team = [echo(name) for name in ("arya", "gendry", "critic")]
    async with Hub.open(quick, agents=team) as hub:
        pair = await hub.conversations.implicit(["arya"])
        made = (await does(hub, pair.id, "/group create arya gendry", channel=("telegram", "7"))).moved
        assert made is not None
        assert (made.name, made.channel_type) == ("arya-gendry", "telegram")
        again = (await does(hub, pair.id, "/group create arya gendry")).moved
        assert again is not None
        assert again.name == "arya-gendry-2"
        with pytest.raises(NotFound):
            await does(hub, pair.id, "/group create nobody")
        added = await does(hub, made.id, "/group add critic")
        assert added.lines == ("arya-gendry: user, arya, gendry, critic",)
        removed = await does(hub, made.id, "/group remove @critic")
        assert removed.lines == ("arya-gendry: user, arya, gendry",)
        assert "max_depth = 4" in (await does(hub, made.id, "/group config max_depth 4")).lines
        with pytest.raises(BadValue, match='unknown setting "colour"'):
            await does(hub, made.id, "/group config colour red")
        listed = (await does(hub, made.id, "/group list")).lines
        assert {"  gendry (agent)", "max_depth = 4"} <= set(listed)
        ended = await does(hub, made.id, "/group dissolve")
        assert ended.moved is not None
        assert ended.moved.id == pair.id
        assert (await hub.conversations.get(made.id)).archived
        with pytest.raises(BadValue, match="is not a group"):
            await does(hub, pair.id, "/group dissolve")


@pytest.mark.req("G-12")
async def test_ask_all_and_what_they_force(quick: Path) -> None:
    team = [echo(name) for name in ("arya", "gendry", "critic")]
    async with Hub.open(quick, agents=team) as hub:
        await hub.conversations.create("room", participants=["arya", "gendry", "critic"])
        await does(hub, "room", "/ask gendry arya ready?")
        assert await texts(hub, "room") == [
            "user: ready?",
            "gendry: gendry heard: ready?",
            "arya: arya heard: ready?",
        ]
        await does(hub, "room", "/ask critic")
        assert (await texts(hub, "room"))[-2:] == ["user: ready?", "critic: critic heard: ready?"]
        done = await does(hub, "room", "/all go")
        assert done.receipt is not None
        assert {part.agent for part in done.receipt.deliveries if part.duty == "must"} == {
            "arya",
            "gendry",
            "critic",
        }


@pytest.mark.req("G-12")
async def test_retry_asks_those_again_whose_turn_failed_and_nobody_else(quick: Path) -> None:
    tries: list[str] = []

    @agent("flaky")
    async def flaky(turn: Any) -> str:
        tries.append(turn.text)
        if len(tries) == 1:
            raise RuntimeError("once")
        return "now it works"

    async with Hub.open(quick, agents=[flaky, echo("arya")]) as hub:
        only_named = {"reply_strategy": "mention_only"}
        await hub.conversations.create("room", participants=["flaky", "arya"], settings=only_named)
        await hub.post("room", "@flaky @arya, well?")
        await hub.settled("room")
        done = await does(hub, "room", "/retry")
        assert done.lines == ("asking flaky again",)
        assert (await texts(hub, "room"))[-2:] == ["user: @flaky @arya, well?", "flaky: now it works"]
        assert tries == ["@flaky @arya, well?"] * 2
        assert "nothing to retry" in (await does(hub, "room", "/retry")).lines[0]


@pytest.mark.req("G-12")
async def test_stop_interrupts_who_speaks_and_keeps_what_was_said(quick: Path) -> None:
    speaking = asyncio.Event()

    @agent("arya")
    async def arya(turn: Any) -> str:
        await turn.say("so far ")
        speaking.set()
        await asyncio.sleep(60)
        return "never"

    async with Hub.open(quick, agents=[arya, echo("gendry")]) as hub:
        await hub.conversations.create("room", participants=["arya", "gendry"])
        await hub.post("room", "@arya go on")
        await asyncio.wait_for(speaking.wait(), PATIENCE)
        where = await hub.conversations.get("room")
        assert (await carry_out(slash.StopCommand("gendry"), At(hub, where))).lines == (
            "nobody is speaking here",
        )
        assert (await carry_out(slash.StopCommand(), At(hub, where))).lines == ("stopped arya",)
        await hub.settled("room", timeout=40)
        assert "arya: so far " in await texts(hub, "room")


@pytest.mark.req("G-12")
async def test_a_stop_counts_that_comes_before_the_claim_is_answered(
    quick: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Both may be in one commit. The agent then begins nothing that nobody would read."""
    stopped, began = asyncio.Event(), list[str]()

    @agent("arya")
    async def arya(turn: Any) -> str:
        began.append(turn.text)
        return "too late"

    begin = AgentHost._begin

    async def begin_late(host: AgentHost, turn: Turn) -> None:
        await stopped.wait()
        begin(host, turn)

    async with Hub.open(quick, agents=[arya]) as hub:
        await hub.conversations.create("room", participants=["arya"])
        late: list[asyncio.Task[None]] = []
        monkeypatch.setattr(
            AgentHost, "_begin", lambda host, turn: late.append(asyncio.create_task(begin_late(host, turn)))
        )
        await hub.post("room", "@arya go on")
        await until(lambda: asyncio.sleep(0, list(late)), bool)
        assert (await does(hub, "room", "/stop")).lines == ("stopped arya",)
        stopped.set()
        await asyncio.gather(*late)
        await hub.settled("room", timeout=40)
        assert began == []
        monkeypatch.undo()
        await hub.post("room", "@arya again")
        await hub.settled("room", timeout=40)
        assert [text.rpartition("@")[2] for text in began] == ["arya again"]


@pytest.mark.req("G-12")
async def test_looking_around_by_slash_commands(quick: Path) -> None:
    async with Hub.open(quick, agents=[echo("arya"), echo("gendry")]) as hub:
        pair = await hub.conversations.implicit(["arya"])
        await hub.ask("gendry", "the harvest", timeout=40)
        assert (await does(hub, pair.id, "/agents")).lines == ("arya, idle", "gendry, idle, not here")
        assert "gendry: gendry heard: the harvest" in (await does(hub, pair.id, "/inbox")).lines[0]
        assert len((await does(hub, pair.id, "/search harvest")).lines) == 2
        assert (await does(hub, pair.id, "/search nothing-like-it")).lines == ("nothing found",)
        assert (await does(hub, pair.id, "/continue")).lines == ("nothing was stopped here",)
        assert (await does(hub, pair.id, "/name brienne")).lines == ("arya is now called brienne",)
        assert (await does(hub, pair.id, "/help why")).lines[0].startswith("/why [N]")
        archived = await does(hub, pair.id, "/archive")
        assert (archived.left, archived.back) == (True, Hint(Act.UNARCHIVE, conversation=pair.id, id=pair.id))
        assert (await does(hub, pair.id, "/quit")).left


# --- for looking only ----------------------------------------------------------------------------------------


async def test_a_home_opened_for_reading_shows_the_same_and_takes_nothing(quick: Path) -> None:
    async with Hub.open(quick, agents=[echo("arya")]) as hub:
        made = await hub.conversations.create("room", participants=["arya"])
        receipt = await hub.post("room", "@arya harvest")
        await hub.settled("room")
        said = await texts(hub, "room")
        parts = await hub.why(receipt.id)
        [turn] = await hub.turns()
        turn = await hub.turn(turn.id)
    async with Hub.reading(quick) as hub:
        assert await texts(hub, "room") == said
        assert (await hub.conversations.get("room")).to_dict()["participants"] == made.to_dict()[
            "participants"
        ]
        assert await hub.why(receipt.id) == parts
        assert await hub.turn(turn.id) == turn
        assert len(await hub.search("harvest")) == 2
        assert [found.name for found in await hub.agents.list()] == ["arya"]
        with pytest.raises(NotPermitted, match="for reading only"):
            await hub.conversations.create("other")
    async with Hub.open(quick) as hub:
        assert [found.name for found in await hub.conversations.list()] == ["room"]


async def test_reading_makes_no_home_and_sees_the_agents_that_are_only_described(tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    async with Hub.reading(nowhere) as hub:
        assert await hub.conversations.list() == []
        assert await hub.agents.list() == []
        assert await hub.search("anything") == []
        with pytest.raises(NotFound):
            await hub.conversations.get("room")
    assert not nowhere.exists()
    described = tmp_path / "described"
    described.mkdir()
    (described / "moot.toml").write_text('[[agents]]\nname = "arya"\nrole = "engineer"\n')
    async with Hub.reading(described) as hub:
        assert [(found.name, found.role) for found in await hub.agents.list()] == [("arya", "engineer")]
    assert [path.name for path in described.iterdir()] == ["moot.toml"]
    (described / "moot.toml").write_text('[[agents]]\nname = "hurnan"\n')
    with pytest.raises(MootError):
        async with Hub.reading(described):
            pass
