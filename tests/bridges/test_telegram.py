"""What only Telegram has: privacy, migration, topics, mentions of bots, edits, media, entities, conflicts."""

import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from telegram import Message, Update
from telegram.error import RetryAfter, TelegramError, TimedOut

from moot import Hub, agent
from moot.bridges.bridge import NotSent
from moot.bridges.findings import BAD, OK, WARN
from moot.bridges.telegram.bridge import TelegramBridge
from moot.bridges.telegram.checkup import check_setup
from moot.bridges.telegram.entities import render
from moot.model.ids import ConversationId
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind
from moot.rules.words import slash
from moot.testing.fake_telegram import FakeTelegram
from tests.bridges.conftest import player
from tests.bridges.stage import Stage
from tests.bridges.worlds import AGENTS, KARL, TelegramWorld
from tests.support.waiting import until

pytestmark = pytest.mark.req("G-13")


@pytest.fixture
async def server() -> AsyncIterator[FakeTelegram]:
    async with FakeTelegram() as made:
        yield made


@pytest.fixture
async def stage(tmp_path: Path, server: FakeTelegram) -> AsyncIterator[Stage]:
    (tmp_path / "moot.toml").write_text("[groups]\ncooldown_seconds = 0.0\nreactive_round = false\n")
    async with Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub:
        made = Stage(hub, TelegramWorld(server))
        await made.connect()
        try:
            yield made
        finally:
            await made.disconnect()


async def test_privacy_on_is_told_with_its_fix_and_only_once(stage: Stage, server: FakeTelegram) -> None:
    for bot in server.bots.values():
        bot.privacy = True
    await stage.disconnect()
    await stage.connect()
    chat = stage.world.add_group(ChatKind.SUPERGROUP)
    [told] = await stage.shown(chat)
    assert "@analyst_bot, @writer_bot, @critic_bot cannot read this group: privacy mode is on" in told.text
    assert "/setprivacy" in told.text
    assert "add it again" in told.text
    await stage.disconnect()
    await stage.connect()
    stage.world.say(chat, KARL, "/help")
    assert len(await stage.shown(chat)) == 2, "the second is that the chat is not paired"


async def test_a_bot_that_is_added_again_without_privacy_mode_is_listened_to(
    stage: Stage, server: FakeTelegram
) -> None:
    """Where ids differ per account one bot listens: not one that hears only commands while another hears all."""
    for bot in server.bots.values():
        bot.privacy = True
    await stage.disconnect()
    await stage.connect()
    chat, where = await stage.group(ChatKind.GROUP)
    stage.world.say(chat, KARL, "nobody hears this")
    token = next(token for token, bot in server.bots.items() if bot.username == "critic_bot")
    group = server.chats[int(chat)]
    server.remove_member(group, token)
    await stage.quiet()
    server.bots[token].privacy = False
    server.add_member(group, token)
    await stage.quiet()
    assert (await stage.chat(chat)).listener == "critic"
    stage.world.say(chat, KARL, "@writer can you hear me?")
    await stage.quiet()
    said = [text for sender, text in await stage.said(where) if sender.startswith("karl")]
    assert said == ["@writer can you hear me?"]
    assert "writer answers writer can you hear me?" in [post.text for post in stage.world.posts(chat)]


async def test_a_bot_of_nobody_is_the_default_agents(tmp_path: Path, server: FakeTelegram) -> None:
    server.add_bot("444:desk", "desk_bot")
    async with Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub:
        world = TelegramWorld(server)
        world.tokens["desk"] = "444:desk"
        world._agents["444:desk"] = "desk"
        stage = Stage(hub, world)
        await stage.connect()
        chat = world.add_private(KARL, "desk")
        await stage.pair(chat, KARL)
        before = len(world.posts(chat))
        world.say(chat, KARL, "hello")
        [shown] = await stage.shown(chat, before)
        assert shown.text == "● analyst: analyst answers hello"
        await stage.disconnect()


async def test_a_group_that_becomes_a_supergroup_stays_paired(stage: Stage, server: FakeTelegram) -> None:
    chat, where = await stage.group(ChatKind.GROUP)
    new = server.migrate(server.chats[int(chat)])
    await stage.quiet()
    assert (await stage.chat(str(new.id))).conversation == where
    assert (await stage.chat(chat)).state == "unknown"
    stage.world.say(str(new.id), KARL, "@writer still here?")
    assert [post.text for post in await stage.shown(str(new.id))] == ["writer answers writer still here?"]


async def test_a_post_to_a_group_that_has_moved_follows_it(stage: Stage, server: FakeTelegram) -> None:
    chat, where = await stage.group(ChatKind.GROUP)
    before = server.chats[int(chat)]
    new = server.migrate(before)
    for bot in server.bots.values():
        bot.queue.clear()  # nobody was told
    await stage.hub.post(where, "from elsewhere")
    posts = await until(lambda: stage.shown(str(new.id)), bool)
    assert [post.text for post in posts] == ["● user: from elsewhere"]


async def test_told_to_wait_for_five_seconds_it_waits_and_keeps_the_order(
    stage: Stage, server: FakeTelegram
) -> None:
    chat, _ = await stage.group()
    before = len(stage.world.posts(chat))
    server.floods.append(5.0)
    began = time.monotonic()
    for name in AGENTS:
        stage.world.say(chat, KARL, f"@{name} go on")
    shown = await until(lambda: stage.shown(chat, before), lambda posts: len(posts) == 3)
    assert time.monotonic() - began >= 5.0
    assert [post.speaker for post in shown] == list(AGENTS)
    assert [method for _, method, _ in server.calls].count("sendMessage") == before + 4, (
        "asked once more, no oftener"
    )


async def test_topics_are_chats_of_their_own(stage: Stage, server: FakeTelegram) -> None:
    forum = server.add_supergroup("Forum", *stage.world.tokens.values(), is_forum=True)  # type: ignore[attr-defined]
    code = (await stage.hub.bridges.code("telegram")).code
    topic: dict[str, Any] = {"message_thread_id": 7, "is_topic_message": True}
    server.say(forum, int(KARL), "Karl", f"/pair {code}", **topic)
    await stage.quiet()
    assert (await stage.chat(f"{forum.id}/7")).state == "paired"
    assert (await stage.chat(str(forum.id))).state != "paired"
    server.say(forum, int(KARL), "Karl", "@writer_bot in here", **topic)
    await stage.quiet()
    newest = server.posts_in(forum.id)[-1]
    assert (newest.text, newest.thread) == ("writer answers writer in here", 7)


async def test_an_edit_changes_the_message_and_media_is_said_to_be_there(
    stage: Stage, server: FakeTelegram
) -> None:
    chat, where = await stage.group()
    place = server.chats[int(chat)]
    message = server.say(place, int(KARL), "Karl", "a typpo")
    await stage.quiet()
    server.edit(place, message, "a typo")
    photo = [{"file_id": "f", "file_unique_id": "u", "width": 1, "height": 1}]
    server.say(place, int(KARL), "Karl", "", photo=photo, caption="our new logo")
    await stage.quiet()
    texts = [text for sender, text in await stage.said(where) if sender.startswith("karl")]
    assert texts == ["a typo", "[photo, which agents cannot see] our new logo"]


async def test_only_one_process_polls_a_token_and_the_check_says_so(server: FakeTelegram) -> None:
    tokens = {"writer": "1:good", "critic": "2:hooked", "analyst": "3:private", "ghost": "9:unknown"}
    server.add_bot("1:good", "writer_bot")
    server.add_bot("2:hooked", "critic_bot").webhook = "https://example.org/hook"
    server.add_bot("3:private", "analyst_bot", privacy=True)
    found = await check_setup(tokens, server.url, [], hub_polls=False, posts=False)
    by_bot = {(one.about, one.state): one for one in found}
    assert "token accepted" in {one.text[:14] for one in found if one.about == "@writer_bot"}
    assert ("@writer_bot", OK) in by_bot
    assert "webhook" in by_bot["@critic_bot", BAD].text
    assert "/setprivacy" in by_bot["@analyst_bot", WARN].fix
    assert "does not accept the token of ghost's bot" in by_bot["ghost", BAD].text
    assert "9:unknown" not in str(found), "a token is never shown"


async def test_who_has_no_bot_in_a_group_speaks_through_one_that_is_there(
    stage: Stage, server: FakeTelegram
) -> None:
    world = stage.world
    assert isinstance(world, TelegramWorld)
    group = server.add_supergroup("Half", world.tokens["critic"])
    chat = str(group.id)
    await stage.quiet()
    where = await stage.pair(chat)
    await stage.hub.conversations.join(where, "writer")
    await stage.disconnect()
    await stage.connect()
    before = len(world.posts(chat))
    await stage.hub.post(where, "@writer @critic from the terminal")
    await stage.quiet()
    shown = [(post.bot, post.text) for post in server.posts_in(group.id)][before:]
    through = {bot for bot, _ in shown}
    assert through == {world.tokens["critic"]}
    assert [text for _, text in shown] == [
        "● user: @writer @critic from the terminal",
        "● writer: writer answers writer critic from the terminal",
        "critic answers writer critic from the terminal",
    ]


async def test_a_bot_that_is_thrown_out_is_spoken_for(stage: Stage, server: FakeTelegram) -> None:
    chat, where = await stage.group()
    place = server.chats[int(chat)]
    before = len(stage.world.posts(chat))
    await stage.hub.post(where, "@writer one")
    await stage.quiet()
    assert isinstance(stage.world, TelegramWorld)
    place.bots.discard(stage.world.tokens["writer"])  # nobody was told
    await stage.hub.post(where, "@writer two")
    texts = [post.text for post in await stage.shown(chat, before)]
    assert texts[-1] == "● writer: writer answers writer two"
    assert await stage.hub.bridges.posts() == []


async def test_a_mention_behind_letters_of_two_units_means_its_agent(stage: Stage) -> None:
    chat, where = await stage.group()
    stage.world.say(chat, KARL, "😀😀 @writer 👩‍👩‍👧 and @critic!")
    await stage.quiet()
    said = await stage.said(where)
    assert said[0][1] == "😀😀 @writer 👩‍👩‍👧 and @critic!"
    assert [sender for sender, _ in said[1:]] == ["writer", "critic"]


async def test_a_private_chat_with_several_agents_says_who_speaks(stage: Stage) -> None:
    chat = stage.world.add_private(KARL, "writer")
    await stage.pair(chat, KARL)
    await stage.hub.bridges.link("telegram", KARL, "user")
    stage.world.say(chat, KARL, "/group create writer critic")
    before = len(await stage.shown(chat))
    stage.world.say(chat, KARL, "/ask writer critic go")
    shown = await stage.shown(chat, before)
    assert [post.text for post in shown] == ["writer answers go", "● critic: critic answers go"]


async def test_in_a_basic_group_a_reply_asks_whose_post_it_is_whatever_its_number(
    stage: Stage, server: FakeTelegram
) -> None:
    chat, _ = await stage.group(ChatKind.GROUP)
    before = len(stage.world.posts(chat))
    for name in AGENTS:
        stage.world.say(chat, KARL, f"@{name} hello")
        await stage.quiet()
    posts = stage.world.posts(chat)[before:]
    for post in posts:
        seen = len(stage.world.posts(chat))
        stage.world.say(chat, KARL, "and you?", reply_to=post.id)
        assert [one.speaker for one in await stage.shown(chat, seen)] == [post.speaker]


async def test_an_update_that_cannot_be_read_is_laid_aside_and_stops_nothing(
    stage: Stage, server: FakeTelegram
) -> None:
    chat, where = await stage.group()
    place = server.chats[int(chat)]
    nameless: dict[str, Any] = {"from": {"id": 5}}
    server.say(place, int(KARL), "Karl", "of a kind that no library knows yet", **nameless)
    stage.world.say(chat, KARL, "whole")
    await stage.quiet()
    assert "whole" in [text for _, text in await stage.said(where)]
    assert len(await stage.hub.bridges.dead_letters()) == 3, "one for each bot that was told"


async def test_one_token_that_is_refused_silences_no_other_bot(tmp_path: Path, server: FakeTelegram) -> None:
    world = TelegramWorld(server)
    del server.bots[world.tokens["writer"]]
    async with Hub.open(tmp_path, agents=[player(name) for name in AGENTS]) as hub:
        stage = Stage(hub, world)
        await stage.connect()
        world.tokens = {name: token for name, token in world.tokens.items() if name != "writer"}
        chat, _ = await stage.group()
        stage.world.say(chat, KARL, "@critic are you there?")
        assert [post.speaker for post in await stage.shown(chat, 1)] == ["critic"]
        await stage.disconnect()


async def test_commands_are_offered_in_private_chats_and_once_in_a_group(
    stage: Stage, server: FakeTelegram
) -> None:
    chat, _ = await stage.group()
    offered = {row.name.partition(" ")[0] for row in slash.ROWS.values() if slash.Surface.CHAT_APP in row.on}
    bots = list(server.bots.values())
    assert all(set(bot.commands["all_private_chats"]) == offered for bot in bots)
    assert [set(bot.commands[chat]) for bot in bots if chat in bot.commands] == [offered]


async def test_an_answer_that_grows_is_shown_as_a_draft_in_a_private_chat(
    tmp_path: Path, server: FakeTelegram, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("moot.bridges.typing_signs.DRAFT_SECONDS", 0.05)

    @agent("writer")
    async def slow(turn: Any) -> str:
        await turn.say("one ")
        await until(lambda: drafts(server), lambda found: "one" in found)
        await turn.say("two")
        await until(lambda: drafts(server), lambda found: "one two" in found)
        return "one two"

    async with Hub.open(tmp_path, agents=[slow]) as hub:
        stage = Stage(hub, TelegramWorld(server))
        await stage.connect()
        chat = stage.world.add_private(KARL, "writer")
        await stage.pair(chat, KARL)
        stage.world.say(chat, KARL, "count")
        shown = await stage.shown(chat, 1)
        assert [post.text for post in shown] == ["one two"]
        assert server.drafts == {}, "the post takes its place"
        await stage.disconnect()


async def drafts(server: FakeTelegram) -> str:
    return " ".join(server.drafted)


async def test_no_token_is_in_what_is_logged_or_kept(
    stage: Stage, server: FakeTelegram, caplog: pytest.LogCaptureFixture, capfd: pytest.CaptureFixture[str]
) -> None:
    caplog.set_level("DEBUG")
    chat, _ = await stage.group()
    server.refusals.append((400, "Bad Request: no"))
    server.breaks.append(False)
    stage.world.say(chat, KARL, "@critic one")
    stage.world.say(chat, KARL, "@writer two")
    await stage.quiet()
    kept = str(await stage.hub.bridges.posts()) + str(await stage.hub.bridges.dead_letters())
    printed = capfd.readouterr()
    everything = caplog.text + printed.out + printed.err + kept
    assert "getUpdates" in caplog.text, "requests are logged, and say to which method"
    assert not [token for token in server.bots if token.partition(":")[2] in everything]


def test_what_is_drawn_has_valid_entities_and_no_link_that_runs() -> None:
    text, entities = render(
        "# Head\n**bold 😀** `code` [x](javascript:1) [y](https://example.org)\n```py\n1\n```"
    )
    units = len(text.encode("utf-16-le")) // 2
    assert all(one.offset + one.length <= units for one in entities)
    assert [one.url for one in entities if one.type == "text_link"] == ["https://example.org"]
    assert {"bold", "code", "pre"} <= {one.type for one in entities}
    assert render("**" * 3000)[1] == []


async def test_what_the_fake_answers_parses_with_the_librarys_own_types(server: FakeTelegram) -> None:
    bot = server.add_bot("1:x", "writer_bot")
    group = server.add_supergroup("Team", "1:x")
    server.say(group, 5, "Karl", "hello @writer_bot")
    for raw in bot.queue:
        assert Update.de_json(raw, None) is not None
    sent = await server.send_message(bot, {"chat_id": group.id, "text": "hi", "entities": []})
    parsed = Message.de_json(sent, None)
    assert (parsed.text, parsed.chat.title) == ("hi", "Team")


async def test_an_older_edit_that_comes_late_changes_nothing(stage: Stage, server: FakeTelegram) -> None:
    """Several bots hear each edit, one of them minutes later."""
    chat, where = await stage.group()
    place = server.chats[int(chat)]
    message = server.say(place, int(KARL), "Karl", "first")
    await stage.quiet()
    for text in ("second", "third"):
        server.edit(place, message, text)
        await stage.quiet()
    server.repeat(place)
    await stage.quiet()
    assert [text for _, text in await stage.said(where)] == ["third"]


async def test_what_is_forwarded_is_told_as_such_and_is_nobodys_command(
    stage: Stage, server: FakeTelegram
) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link("telegram", KARL, "user")
    origin = {
        "type": "user",
        "date": 1,
        "sender_user": {"id": 5, "is_bot": False, "first_name": "Mallory]\n/stop"},
    }
    server.say(server.chats[int(chat)], int(KARL), "Karl", "/group dissolve", forward_origin=origin)
    await stage.quiet()
    assert await stage.said(where) == [("user", "[forwarded from Mallory /stop] /group dissolve")]
    assert (await stage.chat(chat)).conversation == where


async def test_a_command_to_somebody_elses_bot_is_not_ours(stage: Stage) -> None:
    chat, where = await stage.group()
    before, said = len(stage.world.posts(chat)), await stage.said(where)
    for line in ("/agents@music_bot", "/stop@music_bot now"):
        stage.world.say(chat, KARL, line)
    assert await stage.shown(chat, before) == []
    assert await stage.said(where) == said
    stage.world.say(chat, KARL, "/agents@Writer_bot")
    assert len(await stage.shown(chat, before)) == 1


@pytest.mark.parametrize("trouble", [RetryAfter(0), TimedOut()])
async def test_trouble_while_looking_at_a_group_ends_nobodys_listening(
    stage: Stage, monkeypatch: pytest.MonkeyPatch, trouble: TelegramError
) -> None:
    monkeypatch.setattr("moot.bridges.telegram.bridge.AGAIN_SECONDS", 0.01)
    chat, where = await stage.group()
    bridge: Any = stage.worker.bridge
    bots, real, troubles = bridge._bots, bridge._look_at, [trouble]

    async def look_at(*given: Any) -> None:
        if troubles:
            raise troubles.pop()
        await real(*given)

    monkeypatch.setattr(bridge, "_look_at", look_at)
    stage.world.say(chat, KARL, "heard all the same")
    await stage.quiet()
    assert [text for _, text in await stage.said(where)] == ["heard all the same"]
    assert bridge._bots is bots
    assert bots


async def test_trouble_before_a_post_is_handed_over_leaves_it_surely_unsent(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bridge: Any = TelegramBridge({"writer": "1:token"})
    bridge._bots = {"writer": object()}

    async def lost(_: int) -> None:
        raise TimedOut

    monkeypatch.setattr(bridge, "_present", lost)
    post = BridgePost("telegram/-100/1", "telegram", "-100", ConversationId("c"), 1, 1, "writer", "hi")
    with pytest.raises(NotSent):
        await bridge.send(post)
