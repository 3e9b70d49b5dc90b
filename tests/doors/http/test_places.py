"""Who belongs where, as the event stream knows it: nobody hears of a place any more once it has left."""

import asyncio
from typing import Any

import pytest

from moot import shapes
from moot.doors.http.metrics import Meters
from moot.doors.http.streams import members
from moot.doors.http.streams.fanout import Fan
from moot.doors.http.streams.members import ConversationTargets
from moot.doors.open_limit import OpenAtOnce
from tests.doors.http.test_events import Reader, following, say
from tests.doors.http.world import World
from tests.support.waiting import PATIENCE

MESSAGES = "message.posted"


class Held:
    """The hub's own conversations, of which one is found slowly when it is first asked for."""

    def __init__(self, conversations: Any, slow: shapes.Conversation) -> None:
        self._conversations = conversations
        self._slow = slow.id
        self.asked = asyncio.Event()
        self.go_on = asyncio.Event()

    async def get(self, ref: str) -> shapes.Conversation:
        found: shapes.Conversation = await self._conversations.get(ref)
        if ref == self._slow and not self.asked.is_set():
            self.asked.set()
            await self.go_on.wait()
        return found

    def __getattr__(self, name: str) -> Any:
        return getattr(self._conversations, name)


async def heard_until(reader: Reader, last: str) -> list[str]:
    """Types of events and texts of messages, up to one of them."""
    heard: list[str] = []
    while last not in heard:
        _, kind, told = await reader.next()
        heard += [kind, told["body"].get("text", "")]
    return heard


@pytest.mark.req("P-06", "S-13")
async def test_who_left_while_members_were_being_read_hears_nothing_more(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    attic = await world.hub.conversations.create("attic", participants=["karl"])
    held = Held(world.hub.conversations, attic)
    query = f"?types={MESSAGES},conversation.left,agent.joined"
    async with following(world, "karl", query) as left, following(world, "owner", query) as stays:
        monkeypatch.setattr(world.hub, "conversations", held)
        async with asyncio.timeout(PATIENCE), following(world, "owner", f"{query}&after=0") as reads_the_past:
            await held.asked.wait()
            await world.hub.conversations.leave("attic", "karl")
            await heard_until(stays, "conversation.left")  # and so it was noted
            held.go_on.set()
            await reads_the_past.live()
        await say(world, "of now", where="attic")
        assert "of now" in await heard_until(stays, "of now")
        await world.hub.agents.create("newcomer", external=True)
        assert "of now" not in await heard_until(left, "agent.joined")


@pytest.mark.req("P-06", "S-13")
async def test_who_came_while_members_were_being_read_hears_everything(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    attic = await world.hub.conversations.create("attic", participants=["karl"])
    held = Held(world.hub.conversations, attic)
    query = f"?types={MESSAGES},conversation.joined"
    async with following(world, "bob", query) as came, following(world, "owner", query) as stays:
        monkeypatch.setattr(world.hub, "conversations", held)
        async with asyncio.timeout(PATIENCE), following(world, "owner", f"{query}&after=0") as reads_the_past:
            await held.asked.wait()
            await world.hub.conversations.join("attic", "bob")
            await heard_until(stays, "conversation.joined")
            held.go_on.set()
            await reads_the_past.live()
        await say(world, "of now", where="attic")
        assert "of now" in await heard_until(came, "of now")


async def test_who_reads_ahead_of_the_pump_notes_what_it_comes_to(world: World) -> None:
    fan = Fan(world.hub, Meters(), OpenAtOnce(1))
    begin = fan.position = world.hub.position

    async def hear_the_newest() -> frozenset[str]:
        """For a stream that reads all of this."""
        frames = [await fan.frame(event) for event in (await world.hub.encoded.past(begin)).events]
        return [frame.target.members for frame in frames if frame.type == MESSAGES and frame.target][-1]

    await say(world, "one")
    assert "karl" in await hear_the_newest()
    await world.hub.conversations.leave("room", "karl")
    await say(world, "two")
    assert "karl" not in await hear_the_newest()


async def test_what_happened_while_no_pump_ran_is_not_taken_for_unchanged(world: World) -> None:
    fan = Fan(world.hub, Meters(), OpenAtOnce(1))
    begin = world.hub.position
    await say(world, "one")
    happened = (await world.hub.encoded.past(begin)).events
    [posted] = [one for one in happened if one.event.type == MESSAGES]
    before = (await fan.frame(posted)).target
    await world.hub.conversations.leave("room", "karl")
    fan.start()
    after = (await fan.frame(posted)).target
    await fan.close()
    assert before is not None
    assert after is not None
    assert before.members - after.members == {"karl"}


async def test_so_many_places_are_kept_and_no_more(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(members, "MAX_CACHED", 2)
    made = [(await world.hub.conversations.create(name)).id for name in ("first", "second", "third")]
    kept = ConversationTargets(world.hub)
    before = [await kept.of(one) for one in made]
    again = [await kept.of(one) for one in reversed(made)]
    assert [old is new for old, new in zip(reversed(before), again, strict=True)] == [True, True, False]
