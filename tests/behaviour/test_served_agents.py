"""Functions given to `Hub.connect`: agents of a hub elsewhere that run in this process."""

import asyncio
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from moot import PASS, Hub, agent
from moot.errors import NotPermitted
from tests.support.elsewhere import Elsewhere, Wire
from tests.support.waiting import until


@agent("scout", role="looks around")
async def scout(turn: Any) -> str | None:
    """Does what the text says."""
    if "fail" in turn.text:
        raise ValueError("on purpose")
    if "pass" in turn.text:
        return PASS
    if "stream" in turn.text:
        await turn.say("piece by ")
        await turn.say("piece")
        return None
    return f"scout saw {turn.trigger.seq}"


@agent("bob")
async def bob(turn: Any) -> str:
    return "bob here"


@pytest.fixture
def place(tmp_path: Path) -> Elsewhere:
    return Elsewhere(tmp_path)


def connected(place: Elsewhere, *agents: Any) -> Any:
    return Hub.connect(place.url, token=place.token, agents=agents)


async def said(hub: Any, where: str) -> list[tuple[str, str]]:
    return [(message.sender, message.text) for message in await hub.messages(where)]


async def present(hub: Any, name: str) -> None:
    """It waits for turns. While it does not, as just after it took one, a turn is owed, and `settled` leaves it out."""
    await until(lambda: hub.agents.get(name), lambda who: who.reachability == "live")


@pytest.mark.req("P-04")
async def test_a_function_here_is_an_agent_there(place: Elsewhere) -> None:
    async with place.up(), connected(place, scout) as hub:
        who = await hub.agents.get("scout")
        assert (who.kind, who.role) == ("external", "looks around")
        assert (await hub.ask("scout", "hello", timeout=40)).text == "scout saw 1"
        assert (await hub.ask("scout", "stream", timeout=40)).text == "piece by piece"


@pytest.mark.req("G-08", "G-03")
async def test_silence_and_failure_are_what_they_are_and_the_others_go_on(place: Elsewhere) -> None:
    async with place.up([bob]) as here, connected(place, scout) as hub:
        await present(hub, "scout")
        await here.conversations.create("room", participants=["scout", "bob"])
        await hub.post("room", "@scout please pass, @bob?")
        await hub.settled("room", timeout=40)
        await present(hub, "scout")
        await hub.post("room", "@scout please fail, @bob?")
        await hub.settled("room", timeout=40)
        assert await said(hub, "room") == [
            ("user", "@scout please pass, @bob?"),
            ("bob", "bob here"),
            ("user", "@scout please fail, @bob?"),
            ("system", "[scout encountered an error]"),
            ("bob", "bob here"),
        ]
        states = [turn.state for turn in await hub.turns(agent="scout")]
        assert states == ["passed", "failed"]
        [dead] = await hub.deliveries.dead_letters()
        assert dead.error == "ValueError: on purpose"


async def test_a_function_that_gives_no_text_fails_for_all_to_see(place: Elsewhere) -> None:
    @agent("odd")
    async def odd(turn: Any) -> Any:
        return 7

    async with place.up(), connected(place, odd) as hub:
        sent = await hub.send("odd", "hello")
        await until(lambda: hub.turns(agent="odd"), lambda turns: turns[0].state == "failed")
        assert (await said(hub, sent.conversation))[-1] == ("system", "[odd encountered an error]")


@pytest.mark.req("G-07", "K-06")
async def test_a_turn_has_what_a_turn_in_process_has(place: Elsewhere) -> None:
    def told(turn: Any) -> dict[str, Any]:
        return {
            "agent": turn.agent,
            "conversation": turn.conversation.name,
            "must_answer": turn.must_answer,
            "reason": turn.reason,
            "text": turn.text,
            "trigger": turn.trigger.text,
            "new": [message.text for message in turn.new],
            "messages": [(message.role, message.text) for message in turn.messages],
            "framed": turn.messages[-1].content.startswith(turn.messages[-1].to_dict()["content"][:5]),
            "hub": turn.hub.name,
        }

    there: list[dict[str, Any]] = []
    here: list[dict[str, Any]] = []

    @agent("x")
    async def outside(turn: Any) -> str:
        assert turn.id.isdecimal()
        assert turn.deadline is None or turn.deadline > 0
        there.append(told(turn))
        return "noted"

    @agent("x")
    async def inside(turn: Any) -> str:
        here.append(told(turn))
        return "noted"

    async def talk(hub: Any) -> None:
        await hub.conversations.create("room", participants=["x"])
        for text in ("first", "@x second"):
            await present(hub, "x")
            await hub.post("room", text)
            await hub.settled("room", timeout=40)

    async with place.up(), connected(place, outside) as hub:
        await talk(hub)
    (home := place.home / "other").mkdir()
    (home / "moot.toml").write_text((place.home / "moot.toml").read_text())
    async with Hub.open(home, agents=[inside]) as hub:
        await talk(hub)
    assert there == here
    assert there[1]["messages"] == [("user", "first"), ("assistant", "noted"), ("user", "@x second")]


async def test_what_it_posts_belongs_to_its_turn(place: Elsewhere) -> None:
    @agent("relay")
    async def relay(turn: Any) -> str:
        if turn.text == "tell bob":
            await turn.hub.send("bob", "for bob")
        return PASS

    async with place.up([bob]), connected(place, relay) as hub:
        asked = await hub.send("relay", "tell bob")
        pair = await until(lambda: _pair(hub, "bob", "relay"), bool)
        [told, *_] = await until(lambda: hub.messages(pair), bool)
        assert (told.sender, told.root, told.hop) == ("relay", asked.root, asked.hop + 1)
        await hub.settled(timeout=40)
        assert next(turn.state for turn in await hub.turns(agent="relay")) == "said"


async def _pair(hub: Any, *names: str) -> str:
    for one in await hub.conversations.list(kind="direct"):
        if {seat.name for seat in one.participants} == set(names):
            return str(one.id)
    return ""


class Slow:
    """A function that begins and waits to be let on."""

    def __init__(self) -> None:
        self.begun: list[str] = []
        self.stopped: list[str] = []
        self.on = asyncio.Event()

    async def __call__(self, turn: Any) -> str:
        self.begun.append(turn.text)
        try:
            await self.on.wait()
        except asyncio.CancelledError:
            self.stopped.append(turn.text)
            raise
        return f"done {turn.text}"

    async def has_begun(self, *texts: str) -> None:
        async def look() -> list[str]:
            return sorted(self.begun)

        await until(look, lambda found: found == sorted(texts))


@pytest.mark.parametrize("concurrency", [1, 2])
async def test_it_works_on_as_many_turns_at_once_as_it_may(place: Elsewhere, concurrency: int) -> None:
    slow = Slow()
    async with place.up(), connected(place, agent("slow", concurrency=concurrency)(slow)) as hub:
        for name in ("one", "two"):
            await hub.conversations.create(name, participants=["slow"])
            await hub.post(name, f"@slow {name}")
        await slow.has_begun(*["@slow one", "@slow two"][:concurrency])
        running = [turn for turn in await hub.turns(agent="slow") if turn.state == "running"]
        assert len(running) == concurrency
        slow.on.set()
        for name in ("one", "two"):
            await until(partial(said, hub, name), lambda texts: len(texts) == 2)


@pytest.mark.req("A-10")
async def test_leaving_gives_turns_back_and_the_next_is_handed_them(place: Elsewhere) -> None:
    slow = Slow()
    async with place.up() as here:
        async with connected(place, agent("slow")(slow)) as hub:
            sent = await hub.send("slow", "hello")
            await slow.has_begun("hello")
        assert slow.stopped == ["hello"]
        [turn] = await here.turns(agent="slow")
        assert turn.state in ("owed", "ready")
        slow.on.set()
        async with connected(place, agent("slow")(slow)):
            await until(lambda: said(here, sent.conversation), lambda texts: len(texts) == 2)
        assert (await said(here, sent.conversation))[1] == ("slow", "done hello")


async def test_what_a_killed_program_held_is_handed_to_the_next(place: Elsewhere) -> None:
    async with place.up() as here:
        async with connected(place, scout):
            pass
        sent = await here.send("scout", "hello")
        await here.acting_as("scout").mailbox.check(
            handed=()
        )  # somebody took it, and was never heard of again
        async with connected(place, scout):
            await until(lambda: said(here, sent.conversation), lambda texts: len(texts) == 2)


@pytest.mark.req("J-06")
async def test_an_interruption_stops_the_function_and_begins_anew(place: Elsewhere) -> None:
    slow = Slow()
    async with place.up(), connected(place, agent("slow")(slow)) as hub:
        sent = await hub.send("slow", "in English")
        await slow.has_begun("in English")
        await hub.post(sent.conversation, "in French", interrupt=True)
        await slow.has_begun("in English", "in French")
        slow.on.set()
        await until(lambda: said(hub, sent.conversation), lambda texts: len(texts) == 3)
        assert slow.stopped == ["in English"]
        assert (await said(hub, sent.conversation))[-1] == ("slow", "done in French")


async def test_an_answer_is_kept_while_the_hub_is_away(place: Elsewhere) -> None:
    slow = Slow()
    here = await place.start()
    async with connected(place, agent("slow")(slow)) as hub:
        sent = await hub.send("slow", "hello")
        await slow.has_begun("hello")
        await place.stop()
        slow.on.set()
        here = await place.start()
        await until(lambda: said(here, sent.conversation), lambda texts: len(texts) == 2)
        await hub.send("slow", "again")
        await until(lambda: said(here, sent.conversation), lambda texts: len(texts) == 4)
        assert slow.begun == ["hello", "again"]
    await place.stop()


async def test_a_turn_whose_hand_out_is_lost_is_handed_out_again(place: Elsewhere) -> None:
    async with (
        place.up() as here,
        Wire(place.port).laid() as wire,
        Hub.connect(wire.url, token=place.token, agents=[scout]) as hub,
    ):
        await present(hub, "scout")
        wire.answers_to_lose = 1  # the next thing that anybody is told is that there is a turn
        sent = await here.send("scout", "hello")
        await until(lambda: said(here, sent.conversation), lambda texts: len(texts) == 2)
        assert wire.answers_to_lose == 0
        assert [turn.state for turn in await here.turns(agent="scout")] == ["said"]


# --- who may be served -----------------------------------------------------------------------------------


@pytest.mark.req("P-06")
async def test_it_speaks_with_a_token_of_its_own_for_as_long_as_it_is_served(place: Elsewhere) -> None:
    async with place.up() as here:
        async with connected(place, scout) as hub:
            [token] = await here.agents.tokens("scout")
            assert token.revoked_at is None
            await hub.ask("scout", "hello", timeout=40)
        [token] = await here.agents.tokens("scout")
        assert token.revoked_at is not None
        assert "owner.acted_as" not in {entry.act for entry in await here.audit.log()}


async def test_with_its_own_token_an_agent_serves_itself_and_nobody_else(place: Elsewhere) -> None:
    async with place.up() as here:
        await here.agents.create("scout", external=True)
        token = (await here.agents.issue_token("scout")).token
        async with Hub.connect(place.url, token=token, agents=[scout]) as hub:
            assert hub.name == "scout"
            assert (await here.ask("scout", "hello", timeout=40)).text == "scout saw 1"
        with pytest.raises(NotPermitted, match="can only serve scout, not bob"):
            async with Hub.connect(place.url, token=token, agents=[bob]):
                pass


async def test_an_agent_that_the_hub_runs_cannot_be_served_from_elsewhere(place: Elsewhere) -> None:
    async with place.up([bob]):
        with pytest.raises(NotPermitted, match="the hub itself runs bob"):
            async with connected(place, bob):
                pass


async def test_an_agent_whose_token_is_revoked_is_handed_nothing_more(place: Elsewhere) -> None:
    async with place.up() as here, connected(place, scout) as hub:
        await hub.ask("scout", "hello", timeout=40)
        await present(hub, "scout")
        [token] = await here.agents.tokens("scout")
        await here.agents.revoke_token("scout", token.id)
        sent = await hub.send("scout", "anybody there?")
        await until(lambda: hub.agents.get("scout"), lambda who: who.reachability != "live")
        assert (await said(hub, sent.conversation))[-1] == ("user", "anybody there?")
