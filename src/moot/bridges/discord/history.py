"""What a session has missed in a channel: messages, and what became of earlier ones. Read from the channel's history.

Above: bridge.py, at the beginning of a session that could not be resumed. Messages are fetched backwards, to the first
one that is known, and a little further: of those, some may have been edited, and some may be gone. Nothing is taken for
deleted that is older than everything fetched: a bot that may not read a channel's history is shown none of it.
"""

from datetime import UTC, datetime
from typing import Final, NamedTuple

import hikari
import structlog

from moot.bridges.bridge import BridgeInbox, PairedChat
from moot.bridges.discord.messages import KEY, key_of

log = structlog.get_logger("moot.bridges")

MAX_FETCHED: Final = 2_000
"""Messages per channel that are searched for missed ones."""
MAX_COMPARED: Final = 200
"""Messages per channel, from the first known one on, that are compared with what was heard."""


class Missed(NamedTuple):
    messages: list[hikari.Message]
    """By people, oldest first."""
    edited: list[hikari.Message]
    """Known ones that were edited at some time."""
    deleted: list[int]


async def read_missed(rest: hikari.api.RESTClient, paired: PairedChat, inbox: BridgeInbox) -> Missed:
    """What happened since the last known message. Any number of agents' posts may lie between."""
    keys = await inbox.heard_lately(paired.chat)
    heard = sorted(int(key.removeprefix(KEY)) for key in keys if key.startswith(KEY))
    messages: list[hikari.Message] = []
    known: list[hikari.Message] = []
    fetched: list[int] = []
    since = hikari.Snowflake.from_datetime(datetime.fromtimestamp(paired.since, UTC))
    async for message in rest.fetch_messages(int(paired.chat)):
        fetched.append(int(message.id))
        if message.id < since:
            break
        if len(fetched) > MAX_FETCHED:
            log.warning("too much was missed", action="catch_up_cut", chat=paired.chat, fetched=len(fetched))
            break
        if known or await inbox.knows(key_of(message.id)):
            known.append(message)
            if len(known) >= MAX_COMPARED or not heard or message.id <= heard[0]:
                break
        elif not message.author.is_bot and message.webhook_id is None:
            messages.append(message)
    edited = [message for message in known if message.edited_timestamp and int(message.id) in heard]
    deleted = [id for id in heard if id not in fetched and fetched and id > fetched[-1]]
    return Missed(messages[::-1], edited[::-1], deleted)
