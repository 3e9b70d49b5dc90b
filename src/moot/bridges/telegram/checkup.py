"""The known traps of Telegram, looked for one by one: tokens, other pollers, webhooks, membership, privacy, posting.

Above: the command line. Nothing is confirmed and nothing stays: a test message is deleted again.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from telegram import WebhookInfo
from telegram.constants import ChatMemberStatus
from telegram.error import Conflict, TelegramError

from moot.bridges.findings import BAD, OK, WARN, SetupFinding
from moot.bridges.telegram.bridge import HERE
from moot.bridges.telegram.connection import AgentBot, closed, connected
from moot.errors import BadValue
from moot.model.records.chat_apps.bridge import ChatKind
from moot.shapes import ChatElsewhere

PRIVACY_FIX: Final = "in @BotFather: /setprivacy, choose the bot, Disable; then remove and re-add the bot"
TEST_TEXT: Final = "Moot tests whether this bot can post here; this message is deleted again."


async def checked(
    tokens: Mapping[str, str],
    api_url: str,
    chats: Sequence[ChatElsewhere],
    *,
    hub_polls: bool,
    posts: bool,
    webhook_url: str = "",
) -> list[SetupFinding]:
    found: list[SetupFinding] = []
    bots: dict[str, AgentBot] = {}
    try:
        for agent, token in tokens.items():
            try:
                bots |= await connected({agent: token}, api_url)
            except BadValue as error:
                fix = " · ".join(str(way) for way in error.fix)
                found.append(SetupFinding(agent, BAD, error.title, fix))
        for one in bots.values():
            found += await _bot(one, hub_polls=hub_polls, webhook_url=webhook_url)
        for chat in chats:
            found += await _chat(chat, bots, posts=posts)
    finally:
        await closed(bots)
    return found


async def _bot(one: AgentBot, *, hub_polls: bool, webhook_url: str) -> list[SetupFinding]:
    name = f"@{one.username}"
    found = [SetupFinding(name, OK, f"token accepted, speaks for {one.agent}")]
    try:
        hook = await one.bot.get_webhook_info()
        if webhook_url:
            found += _hook(name, hook, f"{webhook_url.rstrip('/')}/{one.agent}", is_up=hub_polls)
        elif hook.url:
            text = "a webhook is set, so that nothing can be polled"
            fix = 'remove it: curl "https://api.telegram.org/bot$TOKEN/deleteWebhook", or set webhook_url'
            found.append(SetupFinding(name, BAD, text, fix))
        elif not hub_polls:
            await one.bot.get_updates(limit=1, timeout=0)
            found.append(SetupFinding(name, OK, "nobody else polls this token"))
    except Conflict:
        text = "another process polls this token (HTTP 409)"
        found.append(
            SetupFinding(name, BAD, text, "stop the other program, or revoke the token in @BotFather")
        )
    except TelegramError as error:
        found.append(SetupFinding(name, BAD, error.message))
    if not one.reads_all:
        text = "privacy mode is on: in groups only commands and replies arrive, unless the bot is an administrator"
        found.append(SetupFinding(name, WARN, text, PRIVACY_FIX))
    return found


def _hook(name: str, hook: WebhookInfo, wanted: str, *, is_up: bool) -> list[SetupFinding]:
    """Whether Telegram calls this hub, and what came of its last call."""
    if hook.url != wanted and not is_up:
        return [SetupFinding(name, OK, "the webhook is set when the hub starts")]
    if hook.url != wanted:
        fix = "another hub may have set its own; start this one again"
        return [SetupFinding(name, BAD, f"Telegram does not call {wanted}", fix)]
    if hook.last_error_message:
        fix = "look at webhook_url, its certificate, and the proxy in front of webhook_listen"
        return [SetupFinding(name, BAD, f"Telegram's last call failed: {hook.last_error_message}", fix)]
    return [SetupFinding(name, OK, "Telegram calls this hub")]


async def _chat(chat: ChatElsewhere, bots: Mapping[str, AgentBot], *, posts: bool) -> list[SetupFinding]:
    if chat.kind == ChatKind.PRIVATE:
        return []
    title = chat.title or chat.chat
    number = int(chat.chat.partition("/")[0])
    found: list[SetupFinding] = []
    reads = False
    for agent in [*chat.agents, *(name for name in bots if name not in chat.agents)]:
        one = bots.get(agent)
        if one is None:
            continue
        try:
            member = await one.bot.get_chat_member(number, one.id)
            if member.status not in HERE:
                raise TelegramError("the bot is not in the group")
        except TelegramError as error:
            found.append(
                SetupFinding(f"{title} @{one.username}", WARN, error.message, "add the bot to the group")
            )
            continue
        reads = reads or one.reads_all or member.status == ChatMemberStatus.ADMINISTRATOR
        found += await _post(one, number, title) if posts and chat.state == "paired" else []
    if not reads:
        text = "no bot can read this group: privacy mode is on"
        found.append(SetupFinding(title, BAD, text, PRIVACY_FIX))
    if chat.kind == ChatKind.GROUP:
        text = f"a basic group: only {chat.listener}'s bot listens, since ids differ per account"
        found.append(
            SetupFinding(
                title, WARN, text, "upgrade it to a supergroup, for example by making its history visible"
            )
        )
    return found


async def _post(one: AgentBot, chat: int, title: str) -> list[SetupFinding]:
    about = f"{title} @{one.username}"
    try:
        sent = await one.bot.send_message(chat, TEST_TEXT, disable_notification=True)
        await one.bot.delete_message(chat, sent.message_id)
    except TelegramError as error:
        return [
            SetupFinding(
                about, BAD, f"cannot post: {error.message}", "let the bot write in the group's permissions"
            )
        ]
    return [SetupFinding(about, OK, "can post")]
