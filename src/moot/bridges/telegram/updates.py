"""Updates of the Bot API to what a bridge delivers. Pure, but for the library's own types.

Ids: in supergroups a message has the same id for every bot; in private chats and basic groups ids count per account, so
that the key of a message there includes the bot. A private chat is named after its bot, a topic after its group.
"""

import re
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from telegram import Chat, Message, MessageEntity, Update, User

from moot.bridges.bridge import (
    AccountRef,
    BotPlaced,
    ButtonPress,
    ChatEdit,
    ChatMessage,
    ChatRef,
    Incoming,
    edit_key,
)
from moot.model.records.chat_apps.bridge import ChatKind

KINDS: Final = {
    "private": ChatKind.PRIVATE,
    "group": ChatKind.GROUP,
    "supergroup": ChatKind.SUPERGROUP,
}
MEDIA: Final = (
    ("photo", "photo"),
    ("voice", "voice message"),
    ("audio", "audio"),
    ("video", "video"),
    ("video_note", "video message"),
    ("animation", "animation"),
    ("document", "file"),
    ("sticker", "sticker"),
    ("location", "location"),
    ("contact", "contact"),
    ("poll", "poll"),
)
LEFT_STATUSES: Final = frozenset({"left", "kicked"})
MAX_NAME: Final = 64
GENERAL: Final = 1
"""The topic that every forum has; its messages carry no number."""


_to_one_bot = re.compile(r"\s*/[A-Za-z0-9_]+@(\w+)").match
"""A command that says which bot is to carry it out."""


class OwnBots(Struct, frozen=True):
    """Our bots, as updates name them."""

    agents: Mapping[int, str]
    """Account → agent."""
    usernames: Mapping[str, str]
    """Username in small letters → agent."""


def incoming(update: Update, agent: str, own: OwnBots) -> list[Incoming]:
    """What an update means for the bridge; empty if it does not matter."""
    if update.my_chat_member is not None:
        change = update.my_chat_member
        chat = _chat(change.chat, agent)
        has_left = change.new_chat_member.status in LEFT_STATUSES
        return [BotPlaced(chat, agent, left=has_left)] if chat is not None else []
    if update.callback_query is not None:
        return _button_press(update, agent)
    message = update.message or update.edited_message
    if message is None:
        return []
    if message.migrate_to_chat_id:
        moved = ChatRef(str(message.migrate_to_chat_id), ChatKind.SUPERGROUP, message.chat.title or "")
        return [BotPlaced(moved, agent, moved_from=str(message.chat.id))]
    return _message_or_edit(message, agent, own, is_edit=update.edited_message is not None)


def _message_or_edit(message: Message, agent: str, own: OwnBots, *, is_edit: bool) -> list[Incoming]:
    chat = _chat(message.chat, agent, message)
    text, is_addressed = _text(message, own)
    if chat is None or message.from_user is None or not text:
        return []
    addressed_bot = _to_one_bot(message.text or message.caption or "")
    if addressed_bot is not None and addressed_bot[1].lower() not in own.usernames:
        return []
    account = _account(message.from_user, own)
    key = _key(message.chat, agent, message.message_id)
    if message.via_bot is not None and message.via_bot.id in own.agents:
        return []
    if is_edit:
        at = int(message.edit_date.timestamp()) if message.edit_date else 0
        return [ChatEdit(edit_key(key, at, text), chat, account, text, agent)]
    replied = message.reply_to_message
    is_reply = replied is not None and not (message.is_topic_message and replied.forum_topic_created)
    return [
        ChatMessage(
            key,
            chat,
            account,
            text,
            agent,
            str(message.message_id),
            reply_to=str(replied.message_id) if replied is not None and is_reply else "",
            reply_key=_key(message.chat, agent, replied.message_id)
            if replied is not None and is_reply
            else "",
            replied_agent=_author(replied, own) if is_reply else "",
            is_addressed=is_addressed,
        )
    ]


def _author(replied: Message | None, own: OwnBots) -> str:
    """The agent whose bot wrote the answered message: where ids differ per account, its id does not tell."""
    if replied is None or replied.from_user is None:
        return ""
    return own.agents.get(replied.from_user.id, "")


def _button_press(update: Update, agent: str) -> list[Incoming]:
    query = update.callback_query
    assert query is not None
    message, data = query.message, query.data or ""
    if message is None or not data.startswith("d:") or not data[2:].isdigit():
        return []
    thread = message if isinstance(message, Message) else None
    chat = _chat(message.chat, agent, thread)
    if chat is None:
        return []
    account = AccountRef(str(query.from_user.id), _display_name(query.from_user), query.from_user.is_bot)
    return [ButtonPress(f"press/{query.id}", chat, account, str(message.message_id), int(data[2:]), agent)]


def _chat(chat: Chat, agent: str, message: Message | None = None) -> ChatRef | None:
    kind = KINDS.get(chat.type)
    if kind is None:  # channels have no conversation
        return None
    title = chat.title or chat.full_name or ""
    if kind is ChatKind.PRIVATE:
        return ChatRef(f"{agent}:{chat.id}", kind, title)
    thread = message.message_thread_id if message is not None and message.is_topic_message else None
    if thread is None or thread == GENERAL:
        return ChatRef(str(chat.id), kind, title)
    created = message.reply_to_message.forum_topic_created if message and message.reply_to_message else None
    return ChatRef(f"{chat.id}/{thread}", kind, f"{title} {created.name if created else thread}")


def _key(chat: Chat, agent: str, message: int) -> str:
    is_common = KINDS.get(chat.type) is ChatKind.SUPERGROUP
    return f"{chat.id}/{message}" if is_common else f"{agent}/{chat.id}/{message}"


def _account(user: User, own: OwnBots) -> AccountRef:
    return AccountRef(str(user.id), _display_name(user), is_bot=user.is_bot or user.id in own.agents)


def _display_name(user: User) -> str:
    """The name that people see; an account may have none."""
    return user.full_name or user.username or ""


def _text(message: Message, own: OwnBots) -> tuple[str, bool]:
    """The text, with bots' names replaced by their agents' and media mentioned; and whether it addresses a bot."""
    text = message.text or message.caption or ""
    entities = message.parse_entities() if message.text else message.parse_caption_entities()
    is_addressed = False
    units = text.encode("utf-16-le")
    for entity in sorted(entities, key=lambda one: one.offset, reverse=True):
        agent = _agent_named_by(entity, entities[entity], own)
        if agent:
            is_addressed = True
            start, end = entity.offset * 2, (entity.offset + entity.length) * 2
            units = units[:start] + f"@{agent}".encode("utf-16-le") + units[end:]
    text = units.decode("utf-16-le")
    media = next((f"[{kind}{_about(message, name)}]" for name, kind in MEDIA if getattr(message, name)), "")
    notes = [note for note in (_forwarded(message), media) if note]
    return (" ".join((*notes, text)).strip() if notes else text), is_addressed


def _forwarded(message: Message) -> str:
    """The prefix of a forwarded text, so that it is taken neither for the sender's own words nor for a command."""
    origin = message.forward_origin
    if origin is None:
        return ""
    user = getattr(origin, "sender_user", None)
    chat = getattr(origin, "sender_chat", None) or getattr(origin, "chat", None)
    name = (
        _display_name(user)
        if user
        else getattr(origin, "sender_user_name", "") or (chat.title if chat else "")
    )
    plain = " ".join("".join(letter for letter in name or "" if letter not in "[]").split())
    return f"[forwarded from {plain[:MAX_NAME]}]" if plain else "[forwarded]"


def _agent_named_by(entity: MessageEntity, words: str, own: OwnBots) -> str:
    if entity.type == MessageEntity.MENTION:
        return own.usernames.get(words.lstrip("@").lower(), "")
    if entity.type == MessageEntity.TEXT_MENTION and entity.user is not None:
        return own.agents.get(entity.user.id, "")
    return ""


def _about(message: Message, name: str) -> str:
    if name == "document" and message.document is not None and message.document.file_name:
        return f" {message.document.file_name}"
    return ", which agents cannot see" if name in ("photo", "video", "voice", "audio", "video_note") else ""
