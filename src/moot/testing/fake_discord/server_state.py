"""The state of a fake Discord: channels, webhooks, posts, and the events that sessions receive."""

import time
from typing import Any, Final

from msgspec import Struct

from moot.model.json import JsonObject

TEXT, DM, THREAD = 0, 1, 11
BOT_ID: Final = "900000000000000001"
APP_ID: Final = "900000000000000002"
GUILD_ID: Final = "900000000000000003"
EPOCH_MS: Final = 1_420_070_400_000
AT: Final = "2026-01-05T09:00:00.000000+00:00"


class FakeChannel(Struct):
    id: str
    kind: int
    name: str
    parent: str = ""
    messages: list[JsonObject] = []
    forbidden: bool = False
    """The bot does not even see it."""
    lacking: set[str] = set()
    """Permissions that the bot lacks there: `send`, `history`, `webhooks`."""

    @property
    def fields(self) -> JsonObject:
        if self.kind == DM:
            return {
                "id": self.id,
                "type": DM,
                "recipients": [user_of("1", self.name)],
                "last_message_id": None,
            }
        common: JsonObject = {"id": self.id, "type": self.kind, "guild_id": GUILD_ID, "name": self.name}
        if self.kind == THREAD:
            return {**common, "parent_id": self.parent, "owner_id": BOT_ID, **_THREAD_FIELDS}
        return {**common, **_CHANNEL_FIELDS}


class FakePost(Struct):
    """What the bot or one of its webhooks has posted, as people see it."""

    id: str
    channel: str
    name: str
    """The name that is shown; empty for the bot itself."""
    text: str
    buttons: list[str] = []
    allowed_mentions: Any = None
    token: str = ""
    """The bot that posted it, where no webhook did."""
    avatar: str = ""
    """Address of the picture that is shown."""


class ServerState:
    def __init__(self) -> None:
        super().__init__()
        self.channels: dict[str, FakeChannel] = {}
        self.webhooks: dict[str, JsonObject] = {}
        self.posts: list[FakePost] = []
        self.typing: list[str] = []
        self.commands: list[JsonObject] = []
        self.other_commands: dict[str, list[JsonObject]] = {}
        """Token → commands that another bot has registered."""
        self.has_message_content = True
        self.events: list[tuple[str, JsonObject]] = []
        """Everything that was dispatched, in order: what a session resumes from."""
        self.bucket_size = 0
        """Posts after which the headers tell the client to wait; 0: no such headers."""
        self.bucket_seconds = 1.0
        self.history_floods: list[float] = []
        """The next requests for messages are answered with waits of these seconds."""
        self._used = 0
        self._newest = 0

    def next_id(self) -> str:
        """A snowflake: its first bits are the time, and each is larger than all before."""
        now = (int(time.time() * 1000) - EPOCH_MS) << 22
        self._newest = max(now, self._newest + 1)
        return str(self._newest)

    def add_channel(self, name: str) -> FakeChannel:
        return self._add(FakeChannel(self.next_id(), TEXT, name))

    def add_thread(self, parent: FakeChannel, name: str) -> FakeChannel:
        return self._add(FakeChannel(self.next_id(), THREAD, name, parent.id))

    def add_dm(self, name: str) -> FakeChannel:
        return self._add(FakeChannel(self.next_id(), DM, name))

    def _add(self, channel: FakeChannel) -> FakeChannel:
        self.channels[channel.id] = channel
        return channel

    # --- what people do -------------------------------------------------------------------------------------

    def say(self, channel: FakeChannel, user: str, name: str, text: str, *, reply_to: str = "") -> JsonObject:
        body = self.message(channel, self.next_id(), user_of(user, name), text)
        if reply_to:
            body |= {"type": 19, "message_reference": {"message_id": reply_to, "channel_id": channel.id}}
        channel.messages.append(body)
        self.dispatch("MESSAGE_CREATE", self._as_received(channel, body))
        return body

    def edit(self, channel: FakeChannel, message: JsonObject, text: str) -> None:
        message |= {"content": text, "edited_timestamp": AT}
        self.dispatch("MESSAGE_UPDATE", self._as_received(channel, message))

    def delete(self, channel: FakeChannel, message: JsonObject) -> None:
        """Somebody takes a message away; Discord does not say who."""
        channel.messages[:] = [one for one in channel.messages if one["id"] != message["id"]]
        guild = {} if channel.kind == DM else {"guild_id": GUILD_ID}
        self.dispatch("MESSAGE_DELETE", {"id": message["id"], "channel_id": channel.id, **guild})

    def use_command(self, channel: FakeChannel, user: str, name: str, command: str, text: str = "") -> str:
        """Somebody picks a slash command from the menu."""
        words = command.split()
        arguments = [{"name": "text", "type": 3, "value": text}] if text else []
        options = [{"name": words[1], "type": 1, "options": arguments}] if len(words) > 1 else arguments
        data = {"id": self.next_id(), "name": words[0], "type": 1, "options": options}
        return self._interact(channel, user, name, 2, data)

    def press(self, channel: FakeChannel, user: str, name: str, post: FakePost, choice: int) -> None:
        data = {"custom_id": f"d:{choice}", "component_type": 2}
        author = {**user_of(BOT_ID, post.name or "moot"), "bot": True}
        message = self.message(channel, post.id, author, post.text)
        self._interact(channel, user, name, 3, data, message=message)

    def _interact(
        self, channel: FakeChannel, user: str, name: str, kind: int, data: JsonObject, **more: Any
    ) -> str:
        id = self.next_id()
        member = user_of(user, name)
        caller = (
            {"user": member} if channel.kind == DM else {"guild_id": GUILD_ID, "member": member_of(member)}
        )
        body: JsonObject = {
            "id": id,
            "application_id": APP_ID,
            "type": kind,
            "token": f"token-{id}",
            "version": 1,
            "channel_id": channel.id,
            "channel": {**channel.fields, "permissions": "0"},
            "app_permissions": "0",
            "locale": "en-GB",
            "guild_locale": "en-GB",
            "entitlements": [],
            "authorizing_integration_owners": {"0": GUILD_ID},
            "context": 1 if channel.kind == DM else 0,
            "attachment_size_limit": 1,
            "data": data,
            **caller,
            **more,
        }
        self.dispatch("INTERACTION_CREATE", body)
        return id

    # --- what the bot receives ------------------------------------------------------------------------------

    def dispatch(self, kind: str, body: JsonObject) -> None:
        self.events.append((kind, body))

    def _as_received(self, channel: FakeChannel, body: JsonObject) -> JsonObject:
        received = dict(body) if self.has_message_content or channel.kind == DM else {**body, "content": ""}
        if channel.kind != DM and not body.get("webhook_id"):
            received |= {"guild_id": GUILD_ID, "member": member_of(None)}
        return received if channel.kind == DM else {**received, "guild_id": GUILD_ID}

    def message(self, channel: FakeChannel, id: str, author: JsonObject, text: str) -> JsonObject:
        return {
            "id": id,
            "channel_id": channel.id,
            "author": author,
            "content": text,
            "timestamp": AT,
            "edited_timestamp": None,
            "tts": False,
            "mention_everyone": False,
            "mentions": [],
            "mention_roles": [],
            "attachments": [],
            "embeds": [],
            "pinned": False,
            "type": 0,
            "flags": 0,
            "components": [],
        }


def user_of(id: str, name: str) -> JsonObject:
    return {
        "id": id,
        "username": name,
        "discriminator": "0",
        "global_name": name,
        "avatar": None,
        "bot": False,
        "flags": 0,
        "public_flags": 0,
    }


def member_of(user: JsonObject | None) -> JsonObject:
    fields: JsonObject = {
        "nick": None,
        "avatar": None,
        "roles": [],
        "joined_at": AT,
        "premium_since": None,
        "deaf": False,
        "mute": False,
        "flags": 0,
        "pending": False,
        "permissions": "0",
        "communication_disabled_until": None,
    }
    return fields if user is None else {**fields, "user": user}


_CHANNEL_FIELDS: Final[JsonObject] = {
    "position": 0,
    "permission_overwrites": [],
    "nsfw": False,
    "topic": None,
    "last_message_id": None,
    "rate_limit_per_user": 0,
    "parent_id": None,
    "last_pin_timestamp": None,
    "flags": 0,
}
_THREAD_FIELDS: Final[JsonObject] = {
    "last_message_id": None,
    "message_count": 0,
    "member_count": 1,
    "rate_limit_per_user": 0,
    "flags": 0,
    "thread_metadata": {
        "archived": False,
        "auto_archive_duration": 60,
        "archive_timestamp": AT,
        "locked": False,
        "create_timestamp": AT,
    },
}
