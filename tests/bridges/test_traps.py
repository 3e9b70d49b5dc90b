"""Each known trap of a chat app has its check, its sentence and its fix; what is set up well is found well."""

from collections.abc import Callable
from pathlib import Path

import pytest

from moot.bridges.discord.checkup import check_setup as check_discord
from moot.bridges.findings import BAD, OK, WARN, SetupFinding
from moot.bridges.telegram.checkup import check_setup as check_telegram
from moot.cli.run.doctor_bridge import findings, problems
from moot.settings import DiscordIdentity, DiscordSettings, Home, load
from moot.shapes import ChatElsewhere
from moot.testing.fake_discord import FakeChannel, FakeDiscord
from moot.testing.fake_telegram import FakeChat, FakeTelegram
from tests.bridges.worlds import READER

pytestmark = pytest.mark.req("G-13", "G-14")

WRITER = READER.replace("reader", "writer")
TOKENS = {"writer": "111:of-writer", "critic": "222:of-critic"}


def paired(app: str, chat: str, kind: str = "supergroup") -> ChatElsewhere:
    return ChatElsewhere(app, chat, kind, "Team A", "paired", "c1", ("writer", "critic"), "writer", None)


def told(found: list[SetupFinding]) -> list[tuple[str, str, str]]:
    return [(one.state, one.text, one.fix) for one in found if one.state != OK]


def sees(found: list[SetupFinding], state: str, text: str, fix: str) -> bool:
    return any(one.state == state and text in one.text and fix in one.fix for one in found)


# --- Discord -------------------------------------------------------------------------------------------------


def no_token(server: FakeDiscord, _: FakeChannel) -> None:
    server.tokens.discard(READER)


def no_content(server: FakeDiscord, _: FakeChannel) -> None:
    server.gateway.allows_message_content = False


def not_seen(_: FakeDiscord, channel: FakeChannel) -> None:
    channel.forbidden = True


def no_webhooks(_: FakeDiscord, channel: FakeChannel) -> None:
    channel.lacking = {"webhooks"}


def no_history(_: FakeDiscord, channel: FakeChannel) -> None:
    channel.lacking = {"history"}


def no_posts(_: FakeDiscord, channel: FakeChannel) -> None:
    channel.lacking = {"send"}


def gone(server: FakeDiscord, channel: FakeChannel) -> None:
    del server.channels[channel.id]


DISCORD = [
    (no_token, BAD, "does not accept the token", "Reset Token"),
    (no_content, BAD, "the intent is off", "Message Content Intent"),
    (not_seen, BAD, "lacks the permission View Channel", "give the bot View Channel"),
    (no_webhooks, BAD, "lacks the permission Manage Webhooks", "give the bot Manage Webhooks"),
    (no_history, WARN, "the bot may not read it", "give the bot Read Message History"),
    (no_posts, BAD, "lacks the permission Send Messages", "give the bot Send Messages"),
    (gone, BAD, "the channel is gone", "moot bridge rm discord"),
]


async def discord(
    trap: Callable[[FakeDiscord, FakeChannel], None] | None = None,
    *agents: str,
    bots: dict[str, str] | None = None,
) -> tuple[list[SetupFinding], FakeDiscord]:
    async with FakeDiscord(READER, WRITER) as server:
        channel = server.add_channel("general")
        server.say(channel, "1001", "Karl", "hello")
        if trap is not None:
            trap(server, channel)
        identity = DiscordIdentity.BOTS if bots else DiscordIdentity.WEBHOOK
        settings = DiscordSettings(token=READER, api_url=server.url, bots=bots or {}, identity=identity)
        found = await check_discord(settings, [paired("discord", channel.id)], agents, posts=True)
        return found, server


@pytest.mark.parametrize(
    ("trap", "state", "text", "fix"), DISCORD, ids=lambda one: getattr(one, "__name__", "")
)
async def test_a_trap_of_discord_is_found(
    trap: Callable[[FakeDiscord, FakeChannel], None], state: str, text: str, fix: str
) -> None:
    found, _ = await discord(trap)
    assert sees(found, state, text, fix), told(found)


async def test_a_good_set_up_of_discord_has_nothing_to_mend_and_leaves_no_message_behind() -> None:
    found, server = await discord(None, "writer", "critic")
    assert told(found) == []
    assert [one.text for one in found][-1] == "can be read and posted to"
    assert server.posts == []


async def test_names_that_discord_refuses_are_told() -> None:
    found, _ = await discord(None, "writer", "discord-bot")
    assert sees(found, WARN, 'appear as "dscord-bot"', "moot agents rename discord-bot")
    assert len(told(found)) == 1


async def test_an_agents_own_bot_needs_a_token_a_place_and_no_commands() -> None:
    def offers(server: FakeDiscord, _: FakeChannel) -> None:
        command = {
            "id": "5",
            "application_id": "6",
            "type": 1,
            "name": "ask",
            "description": "x",
            "version": "7",
        }
        server.other_commands[WRITER] = [{**command, "default_member_permissions": None}]

    found, _ = await discord(offers, bots={"writer": WRITER})
    assert sees(
        found, WARN, "offers commands of its own, which nobody answers: /ask", "only the bot that reads"
    )
    found, _ = await discord(None, bots={"writer": "MTIz.not.known"})
    assert sees(found, BAD, "does not accept the token", "Reset Token")
    found, _ = await discord(not_seen, bots={"writer": WRITER})
    assert sees(found, BAD, "it does not see the channel", "invite this bot to the server")


async def test_a_chat_app_that_cannot_be_reached_is_told_as_that() -> None:
    nowhere = "http://127.0.0.1:9"
    found = await check_discord(DiscordSettings(token=READER, api_url=nowhere), [])
    assert sees(found, BAD, "Discord cannot be asked", "check the network")
    found = await check_telegram(TOKENS, nowhere, [], hub_polls=False, posts=False)
    assert sees(found, BAD, "Telegram cannot be reached", "check the network")


# --- Telegram ------------------------------------------------------------------------------------------------


def unknown_token(server: FakeTelegram, _: FakeChat) -> None:
    del server.bots[TOKENS["critic"]]


def private_bots(server: FakeTelegram, _: FakeChat) -> None:
    for bot in server.bots.values():
        bot.privacy = True


def one_private_bot(server: FakeTelegram, _: FakeChat) -> None:
    server.bots[TOKENS["critic"]].privacy = True


def webhook_left(server: FakeTelegram, _: FakeChat) -> None:
    server.bots[TOKENS["writer"]].webhook = "https://example.org/old"


def not_a_member(_: FakeTelegram, group: FakeChat) -> None:
    group.bots.discard(TOKENS["critic"])


def may_not_write(server: FakeTelegram, _: FakeChat) -> None:
    server.refusals.extend([(400, "Bad Request: not enough rights to send text messages")] * 2)


def basic(_: FakeTelegram, group: FakeChat) -> None:
    group.kind = "group"


TELEGRAM = [
    (unknown_token, BAD, "does not accept the token of critic's bot", "@BotFather"),
    (private_bots, BAD, "no bot can read this group", "remove and re-add the bot"),
    (one_private_bot, WARN, "privacy mode is on", "/setprivacy"),
    (webhook_left, BAD, "a webhook is set", "deleteWebhook"),
    (not_a_member, WARN, "", "add the bot to the group"),
    (may_not_write, BAD, "cannot post", "let the bot write"),
    (basic, WARN, "ids differ per account", "upgrade it to a supergroup"),
]


async def telegram(trap: Callable[[FakeTelegram, FakeChat], None] | None = None) -> list[SetupFinding]:
    async with FakeTelegram() as server:
        for agent, token in TOKENS.items():
            server.add_bot(token, f"{agent}_bot")
        group = server.add_supergroup("Team A", *TOKENS.values())
        if trap is not None:
            trap(server, group)
        chat = paired("telegram", str(group.id), group.kind)
        found = await check_telegram(TOKENS, server.url, [chat], hub_polls=False, posts=True)
        assert server.posts_in(group.id) == []
        return found


@pytest.mark.parametrize(
    ("trap", "state", "text", "fix"), TELEGRAM, ids=lambda one: getattr(one, "__name__", "")
)
async def test_a_trap_of_telegram_is_found(
    trap: Callable[[FakeTelegram, FakeChat], None], state: str, text: str, fix: str
) -> None:
    found = await telegram(trap)
    assert sees(found, state, text, fix), told(found)


async def test_a_good_set_up_of_telegram_has_nothing_to_mend() -> None:
    assert told(await telegram()) == []


# --- moot.toml -----------------------------------------------------------------------------------------------


async def test_tokens_that_are_missing_or_shared_are_found_before_anybody_is_asked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SHARED", WRITER)
    monkeypatch.delenv("MISSING", raising=False)
    text = '[bridges.{app}]\nbots.writer = "${{SHARED}}"\nbots.critic = "${{SHARED}}"\nbots.analyst = "${{MISSING}}"\n'
    (tmp_path / "moot.toml").write_text(
        text.format(app="telegram") + text.format(app="discord") + 'token = "${SHARED}"\nidentity = "bots"\n'
    )
    settings = load(Home(tmp_path))
    assert problems(settings, "telegram") == [
        "bots.analyst has no token: its variable is not set",
        "bots.writer and bots.critic have the same token: each needs its own",
    ]
    assert problems(settings, "discord")[-1] == (
        "bots.writer and bots.critic and token have the same token: each needs its own"
    )
    for app in ("telegram", "discord"):
        found = await findings(Home(tmp_path), app)
        assert {one.fix for one in found} == {f"moot bridge {app} setup shows the steps"}
        assert WRITER not in str(found)
