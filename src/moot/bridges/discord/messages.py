"""Events of Discord to what a bridge delivers, and the table of commands to what Discord registers. Pure."""

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, TypeAlias
from urllib.parse import quote

import hikari
from hikari.api import CommandBuilder
from hikari.impl import MessageActionRowBuilder, SlashCommandBuilder

from moot.bridges.bridge import AccountRef, ButtonPress, ChatEdit, ChatMessage, ChatRef, Incoming, edit_key
from moot.model.records.chat_apps.bridge import ChatKind
from moot.rules.palette import colour_index
from moot.rules.words import slash

MAX_NAME: Final = 80
REFUSED_WORDS: Final = {"discord": "dscord", "clyde": "clde"}
"""Words that Discord refuses in a webhook's name, and their replacements."""
MAX_DESCRIPTION: Final = 100
KEY: Final = "m/"
"""Keys of messages begin so."""
BY_PEOPLE: Final = (hikari.MessageType.DEFAULT, hikari.MessageType.REPLY)
READER: Final = "@moot"
"""Replaces a mention of the bot that reads for all."""
OwnNames: TypeAlias = Mapping[int, str]
"""Our bots' accounts → their agents; empty for the bot that reads for all."""
_mention = re.compile(r"<@!?(\d{1,20})>").sub


def webhook_name(agent: str) -> str:
    """The name under which a webhook posts for an agent."""
    name = agent
    for word, instead in REFUSED_WORDS.items():
        while (at := name.lower().find(word)) >= 0:
            name = name[:at] + instead + name[at + len(word) :]
    return name[:MAX_NAME] or "agent"


def avatar_of(agent: str, form: str) -> str:
    """The picture beside what an agent says: the owner's, or one of Discord's six by the agent's colour."""
    if form:
        return form.replace("{agent}", quote(agent, safe=""))
    return f"https://cdn.discordapp.com/embed/avatars/{colour_index(agent)}.png"


def chat_of(channel: hikari.Snowflakeish, *, is_guild: bool, title: str = "") -> ChatRef:
    """A message in a channel has the same id for everybody; a direct chat is with the one bot that reads."""
    return ChatRef(str(int(channel)), ChatKind.SUPERGROUP if is_guild else ChatKind.PRIVATE, title)


def chat_message(
    message: hikari.Message, *, is_guild: bool, title: str, bots: OwnNames
) -> ChatMessage | None:
    """None for events that nobody wrote: somebody joined, a message was pinned, a thread was started."""
    text, is_addressed = text_of(message, bots)
    if message.type not in BY_PEOPLE or not text:
        return None
    replied = message.message_reference
    reply = str(int(replied.id)) if replied is not None and replied.id is not None else ""
    return ChatMessage(
        key_of(message.id),
        chat_of(message.channel_id, is_guild=is_guild, title=title),
        account_of(message.author, is_bot=message.webhook_id is not None),
        text,
        message=str(int(message.id)),
        reply_to=reply,
        reply_key=key_of(int(reply)) if reply else "",
        is_addressed=is_addressed or not is_guild,
    )


def chat_edit(message: hikari.PartialMessage, *, is_guild: bool, bots: OwnNames) -> Incoming | None:
    if not isinstance(message.author, hikari.User) or not message.content:
        return None
    at = int(message.edited_timestamp.timestamp()) if message.edited_timestamp else 0
    account = account_of(message.author, is_bot=bool(message.webhook_id))
    text, _ = text_of(message, bots)
    key = edit_key(key_of(message.id), at, text)
    return ChatEdit(key, chat_of(message.channel_id, is_guild=is_guild), account, text)


def key_of(message: hikari.Snowflakeish) -> str:
    return f"{KEY}{int(message)}"


def account_of(user: hikari.User, *, is_bot: bool = False) -> AccountRef:
    shown = user.global_name or user.username
    return AccountRef(str(int(user.id)), shown, is_bot=is_bot or user.is_bot)


def text_of(message: hikari.PartialMessage, bots: OwnNames) -> tuple[str, bool]:
    """The text, with bots' accounts replaced by their agents' names and files mentioned; and whether it addresses a
    bot. The bot that reads for all has no agent: its mention at the start is dropped."""
    mentioned: list[str] = []

    def replace(match: re.Match[str]) -> str:
        name = bots.get(int(match[1]))
        if name is None:
            return match[0]
        mentioned.append(name)
        return f"@{name}" if name else READER if match.start() else ""

    text = _mention(replace, message.content or "").strip()
    notes = [f"[file {one.filename}, which agents cannot see]" for one in message.attachments or ()]
    notes += [f"[sticker {one.name}]" for one in message.stickers or ()]
    return " ".join((*notes, text)).strip(), bool(mentioned)


def button_rows(labels: tuple[str, ...]) -> Any:
    """Buttons under a post, five in a row."""
    if not labels:
        return hikari.UNDEFINED
    rows = []
    for start in range(0, min(len(labels), 25), 5):
        row = MessageActionRowBuilder()
        for number, label in enumerate(labels[start : start + 5], start):
            row.add_interactive_button(hikari.ButtonStyle.SECONDARY, f"d:{number}", label=label[:80])
        rows.append(row)
    return rows


# --- commands ------------------------------------------------------------------------------------------------


def commands() -> Sequence[CommandBuilder]:
    """The same table as everywhere; `/group add` is a part of `/group`."""
    builders: dict[str, SlashCommandBuilder] = {}
    for row in slash.ROWS.values():
        name, _, part = row.name.partition(" ")
        if slash.Surface.CHAT_APP not in row.on:
            continue
        if name not in builders:
            about = row.help if not part else "create and change groups of agents"
            builders[name] = SlashCommandBuilder(name, about[:MAX_DESCRIPTION])
        option = _words(row)
        if part:
            inner = [option] if option is not None else None
            builders[name].add_option(_part(part, row.help, inner))
        elif option is not None:
            builders[name].add_option(option)
    builders["pair"] = SlashCommandBuilder("pair", "pair this channel with a code from the owner")
    builders["pair"].add_option(_text("CODE", is_required=True))
    return list(builders.values())


def _words(row: slash.Row) -> hikari.CommandOption | None:
    if not row.arguments:
        return None
    return _text(row.arguments, is_required=not row.arguments.startswith("["))


def _text(arguments: str, *, is_required: bool) -> hikari.CommandOption:
    return hikari.CommandOption(
        type=hikari.OptionType.STRING,
        name="text",
        description=arguments[:MAX_DESCRIPTION],
        is_required=is_required,
    )


def _part(name: str, about: str, options: list[hikari.CommandOption] | None) -> hikari.CommandOption:
    return hikari.CommandOption(
        type=hikari.OptionType.SUB_COMMAND, name=name, description=about[:MAX_DESCRIPTION], options=options
    )


def typed_command(interaction: hikari.CommandInteraction) -> ChatMessage:
    """A command from the menu, as if it had been typed."""
    words = [f"/{interaction.command_name}"]
    options = list(interaction.options or ())
    if options and options[0].type is hikari.OptionType.SUB_COMMAND:
        words.append(options[0].name)
        options = list(options[0].options or ())
    words += [str(one.value) for one in options]
    return ChatMessage(
        f"i/{int(interaction.id)}",
        chat_of(interaction.channel_id, is_guild=interaction.guild_id is not None),
        account_of(interaction.user),
        " ".join(words),
        is_addressed=True,
    )


def button_press(interaction: hikari.ComponentInteraction) -> ButtonPress | None:
    custom = interaction.custom_id
    if not custom.startswith("d:") or not custom[2:].isdigit():
        return None
    return ButtonPress(
        f"i/{int(interaction.id)}",
        chat_of(interaction.channel_id, is_guild=interaction.guild_id is not None),
        account_of(interaction.user),
        str(int(interaction.message.id)),
        int(custom[2:]),
    )
