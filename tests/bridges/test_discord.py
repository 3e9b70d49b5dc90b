"""What only Discord has: names of webhooks, threads, commands from the menu, mentions, resuming a connection."""

from base64 import b64encode
from collections.abc import AsyncIterator
from pathlib import Path

import aiohttp
import pytest

from moot import Hub
from moot.bridges.bridge import NotSent
from moot.bridges.discord.bridge import DiscordBridge
from moot.bridges.discord.messages import avatar_of, commands, webhook_name
from moot.model.ids import ConversationId
from moot.model.records.chat_apps.bridge import BridgePost
from moot.rules.words import slash
from moot.testing.fake_discord import FakeDiscord
from moot.testing.fake_discord.gateway import MISSING_INTENT
from moot.testing.fake_discord.server_state import BOT_ID, user_of
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, KARL, READER, DiscordWorld
from tests.support.waiting import until

pytestmark = pytest.mark.req("G-14")


@pytest.fixture
async def server() -> AsyncIterator[FakeDiscord]:
    async with FakeDiscord(READER) as made:
        yield made


@pytest.fixture
async def stage(tmp_path: Path, server: FakeDiscord) -> AsyncIterator[Stage]:
    (tmp_path / "moot.toml").write_text("[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n")
    async with Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub:
        made = Stage(hub, DiscordWorld(server))
        await made.connect()
        await made.quiet()
        try:
            yield made
        finally:
            await made.disconnect()


async def test_agents_speak_under_their_own_names_and_ring_nobodys_bell(
    stage: Stage, server: FakeDiscord
) -> None:
    chat, _ = await stage.group()
    stage.world.say(chat, KARL, "@writer greet <@1002>")
    await stage.quiet()
    post = server.posts[-1]
    assert post.name == "writer"
    assert post.allowed_mentions == {"parse": []}
    assert len(server.webhooks) == 1, "one webhook per channel, whoever speaks"


async def test_a_thread_is_a_chat_of_its_own_and_is_answered_there(stage: Stage, server: FakeDiscord) -> None:
    channel = server.add_channel("general")
    thread = server.add_thread(channel, "launch")
    await stage.pair(thread.id)
    stage.world.say(thread.id, KARL, "@writer in here")
    posts = await stage.shown(thread.id, 1)
    assert [(post.speaker, post.text) for post in posts] == [("writer", "writer answers writer in here")]
    assert (await stage.chat(channel.id)).state == "unknown"


async def test_commands_from_the_menu_do_what_typed_ones_do(stage: Stage, server: FakeDiscord) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link("discord", KARL, "user")
    before = len(stage.world.posts(chat))
    channel = server.channels[chat]
    server.use_command(channel, KARL, "Karl", "group config", "max_depth 1")
    await stage.quiet()
    server.use_command(channel, KARL, "Karl", "ask", "writer two lines")
    shown = await stage.shown(chat, before)
    assert [post.text for post in shown] == [
        "max_depth = 1",
        "● user: two lines",
        "writer answers two lines",
    ] or [post.text for post in shown] == ["max_depth = 1", "writer answers two lines"]
    assert len(server.responses) == 2, "each is answered, or Discord says that it failed"
    assert (await stage.hub.conversations.get(where)).settings["max_depth"] == 1


def test_what_is_registered_is_the_one_table_of_commands() -> None:
    offered: set[str] = set()
    for command in commands():
        parts = [option.name for option in command.options if option.type == 1]  # type: ignore[attr-defined]
        offered |= {f"{command.name} {part}" for part in parts} or {command.name}
    there = {row.name for row in slash.ROWS.values() if slash.Surface.CHAT_APP in row.on}
    assert offered == there | {"pair"}


async def test_a_connection_that_breaks_is_resumed_without_a_gap(stage: Stage, server: FakeDiscord) -> None:
    chat, where = await stage.group()
    await server.gateway.cut()
    stage.world.say(chat, KARL, "said while nobody listened")
    await until(lambda: stage.said(where), lambda said: len(said) == 1)
    assert server.gateway.resumed == 1


async def test_what_was_said_before_a_new_session_is_fetched_before_what_follows(
    stage: Stage, server: FakeDiscord
) -> None:
    """Also where Discord tells to wait first: what comes live meanwhile must not hide what lies before it."""
    chat, where = await stage.group()
    channel = server.channels[chat]
    server.say(channel, KARL, "Karl", "heard")
    await stage.quiet()
    server.history_floods += [1.0, 1.0]
    body = server.message(channel, server.next_id(), user_of(KARL, "Karl"), "said while nobody listened")
    channel.messages.append(body)
    await server.gateway.forget()
    await until(lambda: sessions_of(server), bool)
    server.say(channel, KARL, "Karl", "said to the new session")
    await until(
        lambda: stage.said(where),
        lambda said: (
            [text for _, text in said][1:] == ["said while nobody listened", "said to the new session"]
        ),
    )
    assert server.history_floods == []


async def sessions_of(server: FakeDiscord) -> int:
    return len(server.gateway.sessions)


async def test_a_connection_that_is_closed_for_good_is_begun_anew(
    stage: Stage, server: FakeDiscord, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.bridges.discord.bridge.CLOSED_SECONDS", 0.01)
    monkeypatch.setattr("moot.bridges.worker.AGAIN_SECONDS", 0.01)
    chat, where = await stage.group()
    await server.gateway.cut(MISSING_INTENT)
    stage.world.say(chat, KARL, "said while nobody listened")
    await until(lambda: stage.said(where), lambda said: len(said) == 1)


async def test_what_was_missed_is_found_behind_any_number_of_agents_posts(
    stage: Stage, server: FakeDiscord
) -> None:
    chat, where = await stage.group()
    channel = server.channels[chat]
    server.say(channel, KARL, "Karl", "heard")
    await stage.quiet()
    for number in range(150):
        body = server.message(
            channel, server.next_id(), {**user_of("777", "writer"), "bot": True}, f"{number}"
        )
        channel.messages.append({**body, "webhook_id": "777"})
    await stage.disconnect()
    server.say(channel, KARL, "Karl", "said while nobody listened")
    for number in range(150):
        body = server.message(
            channel, server.next_id(), {**user_of("777", "writer"), "bot": True}, f"{number}"
        )
        channel.messages.append({**body, "webhook_id": "777"})
    server.events.clear()
    server.gateway.sessions.clear()
    await stage.connect()
    await until(
        lambda: stage.said(where),
        lambda said: [text for _, text in said] == ["heard", "said while nobody listened"],
    )


async def test_what_was_said_before_the_pairing_is_never_fetched(stage: Stage, server: FakeDiscord) -> None:
    channel = server.add_channel("old")
    server.say(channel, KARL, "Karl", "@writer before anybody was asked")
    await stage.quiet()
    code = (await stage.hub.bridges.code("discord")).code
    server.use_command(channel, KARL, "Karl", "pair", f"{code} writer")
    await stage.quiet()
    found = await stage.chat(channel.id)
    assert found.state == "paired"
    await stage.disconnect()
    await stage.connect()
    await stage.quiet()
    assert await stage.said(str(found.conversation)) == []


async def test_what_was_erased_does_not_come_in_again(stage: Stage, server: FakeDiscord) -> None:
    chat, where = await stage.group()
    stage.world.say(chat, KARL, "heard, and erased")
    await stage.quiet()
    await stage.hub.conversations.delete(where)
    await stage.disconnect()
    await stage.connect()
    await stage.quiet()
    assert await stage.hub.conversations.list() == []
    stage.world.say(chat, KARL, "something new")
    await stage.quiet()
    now = (await stage.chat(chat)).conversation
    assert "something new" in [text for _, text in await stage.said(str(now))]
    assert "heard, and erased" not in [text for _, text in await stage.said(str(now))]


async def test_a_bots_account_in_a_text_means_its_agent(tmp_path: Path) -> None:
    id = "900000000000000077"
    token = f"{b64encode(id.encode()).decode()}.test-token.writer"
    async with (
        FakeDiscord(READER, token) as server,
        Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub,
    ):
        stage = Stage(hub, DiscordWorld(server, {"writer": token}))
        await stage.connect()
        await stage.quiet()
        chat, where = await stage.group()
        channel = server.channels[chat]
        message = server.say(channel, KARL, "Karl", f"<@{id}> and <@{BOT_ID}> look at <@1002>")
        await stage.quiet()
        [text] = [text for sender, text in await stage.said(where) if sender == "karl-discord"]
        assert text == "@writer and @moot look at <@1002>"
        server.edit(channel, message, f"<@{BOT_ID}> ask <@{id}>")
        await stage.quiet()
        [text] = [text for sender, text in await stage.said(where) if sender == "karl-discord"]
        assert text == "ask @writer"
        await stage.disconnect()


async def test_a_webhooks_address_is_in_nothing_that_is_kept_or_logged(
    stage: Stage, server: FakeDiscord, capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG", "moot")
    chat, _ = await stage.group()
    for status in (400, 403, 404, 500):
        server.refusals.append((status, "no"))
        stage.world.say(chat, KARL, "@critic try")
        await until(lambda: refusals_left(server), lambda left: not left)
    await stage.quiet()
    posts = [*await stage.hub.bridges.posts("dead"), *await stage.hub.bridges.posts("unconfirmed")]
    assert len(posts) >= 3
    printed = capfd.readouterr()
    everything = f"{posts}{printed.out}{printed.err}{caplog.text}"
    assert [hook["token"] for hook in server.webhooks.values() if f"/{hook['token']}" in everything] == []


async def refusals_left(server: FakeDiscord) -> int:
    return len(server.refusals)


async def test_headers_that_tell_to_wait_are_obeyed_and_nothing_is_lost(
    stage: Stage, server: FakeDiscord
) -> None:
    chat, where = await stage.group()
    server.bucket_size, server.bucket_seconds = 2, 0.7
    before = len(stage.world.posts(chat))
    for number in range(6):
        await stage.hub.post(where, f"line {number}")
    shown = await until(lambda: stage.shown(chat, before), lambda posts: len(posts) == 6)
    assert [post.text for post in shown] == [f"● user: line {number}" for number in range(6)]


async def test_each_agent_has_a_picture(stage: Stage, server: FakeDiscord) -> None:
    chat, _ = await stage.group()
    stage.world.say(chat, KARL, "/ask analyst writer go")
    await stage.quiet()
    pictures = {post.name: post.avatar for post in server.posts if post.name}
    assert pictures == {
        "analyst": "https://cdn.discordapp.com/embed/avatars/4.png",
        "writer": "https://cdn.discordapp.com/embed/avatars/1.png",
    }
    assert avatar_of("a b", "https://example.org/{agent}.png") == "https://example.org/a%20b.png"


@pytest.mark.parametrize(
    ("agent", "name"),
    [("writer", "writer"), ("discord-bot", "dscord-bot"), ("clyde", "clde"), ("x" * 90, "x" * 80)],
)
def test_names_that_discord_refuses_are_changed(agent: str, name: str) -> None:
    assert webhook_name(agent) == name


async def test_with_a_bot_each_agents_post_as_themselves(tmp_path: Path) -> None:
    tokens = {name: READER.replace("reader", name) for name in ("writer", "critic")}
    async with (
        FakeDiscord(READER, *tokens.values()) as server,
        Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub,
    ):
        stage = Stage(hub, DiscordWorld(server, tokens))
        await stage.connect()
        await stage.quiet()
        chat, _ = await stage.group()
        stage.world.say(chat, KARL, "/ask writer analyst go")
        await stage.quiet()
        await stage.disconnect()
    by_bot = {(post.token, post.text) for post in server.posts}
    assert (tokens["writer"], "writer answers go") in by_bot
    assert (READER, "● analyst: analyst answers go") in by_bot, "whoever has no bot is named"
    assert not server.webhooks


async def test_what_discord_says_of_itself_is_not_answered(stage: Stage, server: FakeDiscord) -> None:
    """Somebody joined, a message was pinned, a sticker was sent."""
    chat, where = await stage.group()
    before = len(stage.world.posts(chat))
    for kind in (6, 7, 18):  # pinned, joined, a thread begun
        body = server.message(server.channels[chat], server.next_id(), user_of(KARL, "Karl"), "")
        server.dispatch("MESSAGE_CREATE", {**body, "type": kind, "guild_id": "1"})
    sticker = {"id": "5", "name": "wave", "format_type": 1}
    body = server.message(server.channels[chat], server.next_id(), user_of(KARL, "Karl"), "")
    server.dispatch("MESSAGE_CREATE", {**body, "sticker_items": [sticker], "guild_id": "1"})
    assert await stage.shown(chat, before) == []
    assert [text for _, text in await stage.said(where)] == ["[sticker wave]"]


async def test_in_a_direct_chat_agents_with_a_bot_of_their_own_speak_through_the_one_that_reads(
    tmp_path: Path,
) -> None:
    tokens = {"writer": READER.replace("reader", "writer")}
    async with (
        FakeDiscord(READER, *tokens.values()) as server,
        Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub,
    ):
        stage = Stage(hub, DiscordWorld(server, tokens))
        await stage.connect()
        await stage.quiet()
        chat = stage.world.add_private(KARL, "writer")
        await stage.pair(chat, KARL, ["writer"])
        before = len(stage.world.posts(chat))
        stage.world.say(chat, KARL, "hello")
        [shown] = await stage.shown(chat, before)
        assert (shown.speaker, shown.text) == ("writer", "writer answers hello")
        assert await stage.hub.bridges.posts() == []
        await stage.disconnect()


async def test_trouble_before_a_post_is_handed_over_leaves_it_surely_unsent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bridge = DiscordBridge(READER, {})

    async def lost(_: str) -> None:
        raise aiohttp.ServerDisconnectedError

    monkeypatch.setattr(bridge, "_rest", object)
    monkeypatch.setattr(bridge, "_place", lost)
    with pytest.raises(NotSent):
        await bridge.send(
            BridgePost("discord/1/1", "discord", "1", ConversationId("c"), 1, 1, "writer", "hi")
        )


async def test_what_is_deleted_there_is_deleted_here(stage: Stage, server: FakeDiscord) -> None:
    chat, where = await stage.group()
    channel = server.channels[chat]
    first = server.say(channel, KARL, "Karl", "a secret by mistake")
    server.say(channel, KARL, "Karl", "and this stays")
    await stage.quiet()
    for _ in range(2):
        server.delete(channel, first)
    server.dispatch("MESSAGE_DELETE", {"id": "5", "channel_id": chat, "guild_id": "1"})
    await stage.quiet()
    assert [text for _, text in await stage.said(where)] == ["", "and this stays"]


async def test_what_was_edited_and_deleted_while_nobody_listened_is_followed(
    stage: Stage, server: FakeDiscord
) -> None:
    chat, where = await stage.group()
    channel = server.channels[chat]
    texts = ("stays", "a secret by mistake", "wrogn", "the last, and gone too")
    stays, secret, wrong, last = [server.say(channel, KARL, "Karl", text) for text in texts]
    await stage.quiet()
    await stage.disconnect()
    for message in (secret, last):
        server.delete(channel, message)
    server.edit(channel, wrong, "right")
    server.say(channel, KARL, "Karl", "said meanwhile")
    server.events.clear()
    server.gateway.sessions.clear()
    await stage.connect()
    await until(
        lambda: stage.said(where),
        lambda said: [text for _, text in said] == [stays["content"], "", "right", "", "said meanwhile"],
    )
    await server.gateway.forget()  # once more: each is followed once
    await stage.quiet()
    assert len(await stage.said(where)) == 5


@pytest.mark.parametrize("shows", ["nothing", "one newer message"])
async def test_a_history_that_is_not_shown_deletes_nothing(
    stage: Stage, server: FakeDiscord, shows: str
) -> None:
    """A bot that may not read a channel's history is shown an empty one."""
    chat, where = await stage.group()
    channel = server.channels[chat]
    server.say(channel, KARL, "Karl", "heard")
    await stage.quiet()
    await stage.disconnect()
    channel.messages.clear()
    if shows == "one newer message":
        server.say(channel, KARL, "Karl", "said meanwhile")
    server.events.clear()
    server.gateway.sessions.clear()
    await stage.connect()
    await stage.quiet()
    assert "heard" in [text for _, text in await stage.said(where)]
