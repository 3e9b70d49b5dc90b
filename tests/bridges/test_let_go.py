"""A chat that is unpaired, has moved, or whose conversation is erased: what was on its way, and what comes again."""

import asyncio
from types import SimpleNamespace
from typing import Any

import pytest

from moot.bridges.bridge import BotPlaced, ChatMoved, ChatRef, Flooded
from moot.bridges.flood import FloodGate
from moot.flow import issue_code
from moot.model.change import DropRecord
from moot.model.ids import ParticipantId
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind, PairingCode
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, KARL, MemoryWorld
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("G-13", "G-14")


@pytest.fixture
def world() -> MemoryWorld:
    return MemoryWorld()


async def test_a_chat_that_the_bots_have_left_is_unpaired_and_stays_so_when_one_is_back(stage: Stage) -> None:
    chat, _ = await stage.group()
    ref = ChatRef(chat, ChatKind.SUPERGROUP, "Team A")
    for agent in AGENTS:
        await stage.worker.hear(BotPlaced(ref, agent, left=True))
    assert (await stage.chat(chat)).state == "left"
    await stage.hub.bridges.unpair(stage.world.bridge_name, chat)
    await stage.worker.hear(BotPlaced(ref, "writer"))
    found = await stage.chat(chat)
    assert (found.state, found.conversation) == ("found", None)


async def test_the_agents_of_a_chat_are_listed_by_name_whoever_was_seen_first(stage: Stage) -> None:
    for number, order in enumerate((AGENTS, AGENTS[::-1])):
        ref = ChatRef(f"-20{number}", ChatKind.SUPERGROUP, "Team B")
        for agent in order:
            await stage.worker.hear(BotPlaced(ref, agent))
        found = await stage.chat(ref.id)
        assert (found.agents, found.listener) == (tuple(sorted(AGENTS)), order[0])


async def test_what_was_on_its_way_to_a_chat_is_not_sent_once_it_is_unpaired(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nor what its sender has in hand already, and holds back for the pace of the chat."""
    monkeypatch.setattr("moot.bridges.dispatch.RETRY_SECONDS", 0.01)
    chat, where = await stage.group()
    before = len(stage.world.posts(chat))
    held, go_on = asyncio.Event(), asyncio.Event()

    async def wait_for_turn(gate: FloodGate) -> None:
        held.set()
        await go_on.wait()

    monkeypatch.setattr(FloodGate, "wait_for_turn", wait_for_turn)
    stage.world.say(chat, KARL, "@writer one")
    await asyncio.wait_for(held.wait(), PATIENCE)
    await stage.hub.post(where, "a secret of the terminal")
    await until(lambda: stage.hub.bridges.posts("queued"), lambda posts: len(posts) == 2)
    await stage.hub.bridges.unpair(stage.world.bridge_name, chat)
    go_on.set()
    assert await stage.shown(chat, before) == []
    assert await stage.hub.bridges.posts() == []
    assert len(await stage.hub.bridges.posts("dropped")) == 2


async def test_a_post_under_way_while_its_group_moves_is_said_in_the_new_one(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The update about the move may be taken in while the post is on its way: its chat is not there any more then."""
    chat, _ = await stage.group(ChatKind.GROUP)
    new = ChatRef("-1009", ChatKind.SUPERGROUP, "Team A")
    calls: list[str] = []
    bridge: Any = stage.worker.bridge
    real = bridge.send

    async def send(post: BridgePost) -> str:
        calls.append(post.chat)
        if post.chat == chat:
            await stage.worker.intake.hear(BotPlaced(new, "analyst", moved_from=chat))
            raise ChatMoved(new)
        return str(await real(post))

    monkeypatch.setattr(bridge, "send", send)
    stage.world.say(chat, KARL, "@writer one")
    await until(lambda: stage.hub.bridges.posts("sent"), lambda posts: any("one" in p.text for p in posts))
    assert calls == [chat, new.id]


async def test_posts_to_a_chat_that_is_not_known_any_more_go_out_too(
    stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    chat, _ = await stage.group(ChatKind.GROUP)
    bridge: Any = stage.worker.bridge
    real, new = bridge.send, ChatRef("-1009", ChatKind.SUPERGROUP, "Team A")

    async def send(post: BridgePost) -> str:
        if post.chat != chat:
            return str(await real(post))
        if await stage.hub.bridges.records.chat(post.bridge, chat) is not None:
            await stage.worker.intake.hear(BotPlaced(new, "analyst", moved_from=chat))
            stage.worker.dispatch._gates.clear()
            raise Flooded(0.01)
        raise ChatMoved(new)

    monkeypatch.setattr(bridge, "send", send)
    stage.world.say(chat, KARL, "@writer one")
    await until(lambda: stage.hub.bridges.posts("sent"), lambda posts: any("one" in p.text for p in posts))


def test_a_code_that_was_used_is_kept_to_say_since_when_its_chat_is_paired(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    who, long_ago = ParticipantId("user"), 10.0
    used = PairingCode("d1", "discord", who, long_ago, used_by="1")
    unused = PairingCode("d2", "discord", who, long_ago)
    seen: Any = SimpleNamespace(records=lambda _: [used, unused])
    monkeypatch.setattr("moot.flow.issue_code.find.participant", lambda *_: None)
    monkeypatch.setattr("moot.flow.issue_code.find.is_owner", lambda *_: True)
    monkeypatch.setattr("moot.flow.issue_code.acts.enter", lambda *_: None)
    command = issue_code.IssueCode(who, "discord", "d3", 900.0)
    at: Any = SimpleNamespace(now=1_000.0)
    changes = issue_code.decide(command, seen, at).changes
    assert [change.key for change in changes if isinstance(change, DropRecord)] == [("d2",)]
