"""Whoever was asked in a chat and has not begun after ten seconds is named there: once, in a message that changes."""

import asyncio
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Sequence
from datetime import UTC, datetime
from pathlib import Path

import pytest

from moot import Hub
from moot.bridges.bridge import BotPlaced, ChatRef, Unsure
from moot.model.ids import ConversationId
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind
from moot.testing import ManualClock
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.test_kills import LONG_LEASE, killed
from tests.bridges.worlds import AGENTS, KARL, DiscordWorld, MemoryWorld, Shown, TelegramWorld, World
from tests.support.clocks import LaterClock
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("G-13", "G-14")

PRESENT = ("analyst", "writer")
SETTINGS = "[groups]\ncooldown_seconds = 40.0\nreactive_round = false\n"
AWAY = "⏳ Not answered yet: critic (away)."


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(time.time())


@pytest.fixture
async def stage(
    tmp_path: Path, world: World, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Stage]:
    """The critic is away. No lease runs out while the clock leaps."""
    monkeypatch.setattr("moot.bridges.lease.LEASE_SECONDS", 36_000.0)
    (tmp_path / "moot.toml").write_text(SETTINGS)
    async with Hub.open(tmp_path, agents=[player(name) for name in PRESENT], clock=clock) as hub:
        await hub.agents.create("critic", role="is away")
        stage = Stage(hub, world)
        await stage.connect()
        await stage.quiet()
        try:
            yield stage
        finally:
            await stage.disconnect()


async def notices(stage: Stage, chat: str) -> list[Shown]:
    return [post for post in stage.world.posts(chat) if post.text.startswith(("⏳", "✓"))]


async def look(stage: Stage) -> None:
    await stage.worker.notices.look_everywhere()
    await stage.quiet()


async def test_a_wait_is_told_once_and_the_message_says_later_that_it_is_over(
    stage: Stage, clock: ManualClock
) -> None:
    chat, _ = await stage.group()
    stage.world.say(chat, KARL, "@critic are you there?")
    await stage.quiet()
    await clock.advance(9.0)
    await look(stage)
    assert await notices(stage, chat) == [], "ten seconds of silence need no explanation"
    await clock.advance(7.0)
    [told] = await until(lambda: look_for(stage, chat), bool)
    assert told.text == AWAY
    stage.world.say(chat, KARL, "@critic hello?")
    await stage.quiet()
    await clock.advance(30.0)
    await stage.disconnect()
    await stage.connect()
    await look(stage)
    assert await notices(stage, chat) == [told], "not again, whoever runs the bridge"
    await stage.hub.host([player("critic")])
    [ended] = await until(
        lambda: after(clock, look_for(stage, chat)), lambda posts: posts[0].text.startswith("✓")
    )
    assert ended.id == told.id, "the same message"
    assert ended.text.startswith("✓ No longer waiting; it took ")
    await stage.quiet()
    assert any("critic answers" in post.text for post in stage.world.posts(chat))
    assert (await stage.hub.bridges.records.chats(stage.world.bridge_name))[0].notice == ""


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_a_hold_is_told_with_its_end(stage: Stage, clock: ManualClock) -> None:
    chat, where = await stage.group()
    stage.world.say(chat, KARL, "@writer one")
    await stage.quiet()
    stage.world.say(chat, KARL, "@writer two")
    await until(lambda: stage.hub.turns(state="held"), bool)
    await clock.advance(20.0)
    [told] = await until(lambda: look_for(stage, chat), bool)
    [held] = await stage.hub.bridges.records.unclaimed(ConversationId(where))
    until_then = datetime.fromtimestamp(held.due, UTC).strftime("%H:%M:%S")
    assert told.text == f"⏳ Not answered yet: writer (held, next at {until_then} UTC)."
    await clock.advance(40.0)
    await until(lambda: look_for(stage, chat), lambda posts: posts[0].text.startswith("✓"))


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_what_is_over_before_it_could_be_told_is_not_told(stage: Stage, clock: ManualClock) -> None:
    chat, _ = await stage.group()
    stage.world.flood(60.0)
    stage.world.say(chat, KARL, "@critic are you there?")
    await stage.quiet()
    await clock.advance(16.0)
    await stage.worker.notices.look_everywhere()
    await until(lambda: stage.hub.bridges.posts("queued"), bool)
    await stage.hub.host([player("critic")])
    await until(lambda: stage.hub.bridges.posts("dropped"), bool)
    await until(
        lambda: after(clock, shown(stage, chat)), lambda posts: any("critic answers" in p.text for p in posts)
    )
    assert await notices(stage, chat) == []


async def shown(stage: Stage, chat: str) -> list[Shown]:
    return stage.world.posts(chat)


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_nobody_is_told_of_what_was_asked_elsewhere_or_need_not_be_answered(
    stage: Stage, clock: ManualClock
) -> None:
    chat, where = await stage.group()
    await stage.hub.post(where, "@critic from the terminal")
    stage.world.say(chat, KARL, "hello everybody")
    await stage.quiet()
    await clock.advance(30.0)
    await look(stage)
    assert await notices(stage, chat) == []


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_a_change_without_a_result_is_made_again_and_never_unconfirmed(
    stage: Stage, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, _ = await stage.group()
    stage.world.say(chat, KARL, "@critic are you there?")
    await stage.quiet()
    await clock.advance(16.0)
    await until(lambda: look_for(stage, chat), bool)
    breaks = Breaks(stage, monkeypatch)
    await stage.hub.host([player("critic")])
    await asyncio.wait_for(breaks.met.wait(), PATIENCE)
    [ended] = await until(
        lambda: after(clock, notices(stage, chat)), lambda posts: posts[0].text.startswith("✓")
    )
    assert await stage.hub.bridges.posts("unconfirmed") == []
    assert ended.text.startswith("✓")


async def after(clock: ManualClock, look: Awaitable[list[Shown]]) -> list[Shown]:
    """What is there when some time has passed: the next try is due then, if its failure is written down by now."""
    await clock.advance(3.0)
    return await look


class Breaks:
    """The connection breaks at the first change of a post."""

    def __init__(self, stage: Stage, monkeypatch: pytest.MonkeyPatch) -> None:
        self.met = asyncio.Event()
        self._real = stage.worker.bridge.edit
        monkeypatch.setattr(stage.worker.bridge, "edit", self._edit)

    async def _edit(self, post: BridgePost) -> None:
        if not self.met.is_set():
            self.met.set()
            raise Unsure("connection lost")
        await self._real(post)


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_in_a_chat_that_has_moved_what_was_told_in_the_old_one_stays_as_it_is(
    stage: Stage, clock: ManualClock
) -> None:
    """The message has another number in the new one, which nobody tells; by the old one it might change another."""
    assert isinstance(stage.world, MemoryWorld)
    chat, _ = await stage.group(ChatKind.GROUP)
    stage.world.say(chat, KARL, "@critic are you there?")
    await stage.quiet()
    await clock.advance(16.0)
    await until(lambda: look_for(stage, chat), bool)
    moved = BotPlaced(ChatRef("-1009", ChatKind.SUPERGROUP, "Team A"), "analyst", moved_from=chat)
    await stage.worker.hear(moved)
    await stage.hub.host([player("critic")])
    await stage.quiet()
    await look(stage)
    [kept] = await stage.hub.bridges.records.chats(stage.world.bridge_name)
    assert (kept.chat, kept.notice) == ("-1009", "")
    assert stage.world.app.edits == []
    assert await stage.hub.bridges.posts() == []
    assert any("critic answers" in post.text for post in stage.world.posts("-1009"))


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_who_chose_is_shown_although_the_connection_broke(
    stage: Stage, clock: ManualClock, monkeypatch: pytest.MonkeyPatch
) -> None:
    private = stage.world.add_private(KARL, "writer")
    await stage.pair(private, KARL, ["writer"])
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    stage.world.say(private, KARL, "decide please")
    [asked] = await until(
        lambda: shown_posts(stage, private), lambda posts: len(posts) == 1 and bool(posts[0].text)
    )
    breaks = Breaks(stage, monkeypatch)
    stage.world.press(private, KARL, asked.id, 0)
    await asyncio.wait_for(breaks.met.wait(), PATIENCE)
    await until(
        lambda: after(clock, shown_posts(stage, private)),
        lambda posts: [p.text.splitlines()[-1] for p in posts] == ["user: yes"],
    )
    assert await stage.hub.bridges.posts("unconfirmed") == []


async def shown_posts(stage: Stage, chat: str) -> list[Shown]:
    return [post for post in stage.world.posts(chat) if "ship it?" in post.text]


@pytest.mark.parametrize("world", ["memory"], indirect=True)
async def test_in_a_chat_that_is_unpaired_nothing_is_left_open(stage: Stage, clock: ManualClock) -> None:
    chat, _ = await stage.group()
    stage.world.say(chat, KARL, "@critic are you there?")
    await stage.quiet()
    await clock.advance(16.0)
    await until(lambda: look_for(stage, chat), bool)
    await stage.hub.bridges.unpair(stage.world.bridge_name, chat)
    [kept] = await stage.hub.bridges.records.chats(stage.world.bridge_name)
    assert kept.notice == ""
    await look(stage)
    [still] = await notices(stage, chat)
    assert still.text == AWAY, (
        "nobody there learns what happens in a conversation that is not theirs any more"
    )


@pytest.mark.timeout(150)
@pytest.mark.parametrize(
    ("world", "present", "point"),
    [("telegram", PRESENT, "bridge.noticed"), ("discord", AGENTS, "bridge.sent")],
    indirect=["world"],
)
async def test_killed_while_it_is_told_or_changed_it_is_there_once(
    tmp_path: Path, world: World, present: Sequence[str], point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Killed when it was written down and not sent; and when it was changed and that was not written down."""
    assert isinstance(world, TelegramWorld | DiscordWorld)
    monkeypatch.setattr("moot.bridges.wait_notices.WAIT_SECONDS", 0.0)
    (tmp_path / "moot.toml").write_text(SETTINGS)
    async with Hub.open(tmp_path, agents=[player(name) for name in PRESENT]) as hub:
        await hub.agents.create("critic", role="is away")
        stage = Stage(hub, world)
        await stage.connect()
        chat, _ = await stage.group()
        if present == AGENTS:
            world.say(chat, KARL, "@critic take your time")
            await until(lambda: look_for(stage, chat), bool)
        await stage.disconnect()
    if present == PRESENT:
        world.say(chat, KARL, "@critic take your time")
    url, name = world.server.url, world.bridge_name
    ended = await killed(tmp_path, name, url, point, LONG_LEASE, agents=present)
    assert ended == -signal.SIGKILL
    async with Hub.open(tmp_path, agents=[player(name) for name in present], clock=LaterClock()) as hub:
        stage = Stage(hub, world)
        await stage.connect()
        if present == PRESENT:
            await until(lambda: look_for(stage, chat), bool)
            await hub.host([player("critic")])
        [told] = await until(lambda: look_for(stage, chat), lambda posts: posts[0].text.startswith("✓"))
        await stage.quiet()
        assert [post.text.count("critic answers") for post in world.posts(chat)].count(1) <= 1
        assert await notices(stage, chat) == [told]
        assert await hub.bridges.posts("unconfirmed") == [], (
            "a change is made again, and nobody need look after it"
        )
        await stage.disconnect()


async def look_for(stage: Stage, chat: str) -> list[Shown]:
    await stage.worker.notices.look_everywhere()
    return await notices(stage, chat)
