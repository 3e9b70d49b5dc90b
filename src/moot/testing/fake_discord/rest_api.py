"""The requests of Discord's API that a bridge makes, answered from a state of channels, on a loopback socket."""

import re
import time
from collections.abc import Callable
from email.utils import formatdate
from types import TracebackType
from typing import Any, Final, Self
from urllib.parse import parse_qsl

from msgspec import json

from moot.model.json import Json, JsonObject
from moot.testing.chat_app_server import AnswerLost, AnswerRefused, ChatAppServer, WholeAnswer
from moot.testing.fake_discord.gateway import Gateway
from moot.testing.fake_discord.server_state import (
    APP_ID,
    BOT_ID,
    DM,
    GUILD_ID,
    FakeChannel,
    FakePost,
    ServerState,
    user_of,
)
from moot.testing.fake_llm.http import QUERY

MAX_TEXT: Final = 2000
REFUSED_NAMES: Final = ("discord", "clyde")
NO_CONTENT: Final = 204
MESSAGE_CONTENT_FLAG: Final = 1 << 18


class FakeDiscord(ServerState, ChatAppServer):
    def __init__(self, *tokens: str) -> None:
        super().__init__()
        self.tokens = set(tokens)
        self._reader = next(iter(tokens), "")
        """The first bot: direct chats are with this one."""
        self.gateway = Gateway(self, self.tokens)
        self.responses: list[tuple[str, JsonObject]] = []
        """Interactions and their answers."""
        self._caller = ""

    async def __aenter__(self) -> Self:
        await self.gateway.open()
        await super().__aenter__()
        self.url += "/api/v10"
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await super().__aexit__(kind, error, trace)
        await self.gateway.close()

    async def answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> WholeAnswer:
        status, answer = self._answer(method, path, headers, body)
        return WholeAnswer(status, None if status == NO_CONTENT else answer, self._limits(method, path))

    def refused(self, refusal: AnswerRefused) -> WholeAnswer:
        after = refusal.more.get("retry_after")
        headers = {} if after is None else {"retry_after": str(after)}
        return WholeAnswer(refusal.status, {"message": str(refusal), "code": 0, **refusal.more}, headers)

    def flooded(self, seconds: float) -> AnswerRefused:
        return AnswerRefused(429, "You are being rate limited.", retry_after=seconds, **{"global": False})

    def _limits(self, method: str, path: str) -> dict[str, str]:
        """The headers in which Discord reports what is left of a channel's bucket."""
        if (
            method != "POST"
            or not self.bucket_size
            or not re.search(r"/(messages|webhooks/\d+/[\w-]+)$", path)
        ):
            return {}
        self._used += 1
        left = max(0, self.bucket_size - self._used)
        self._used %= self.bucket_size
        return {
            "x_ratelimit_limit": str(self.bucket_size),
            "x_ratelimit_remaining": str(left),
            "x_ratelimit_reset_after": str(self.bucket_seconds),
            "x_ratelimit_reset": str(time.time() + self.bucket_seconds),
            "x_ratelimit_bucket": "posts",
            "date": formatdate(usegmt=True),
        }

    def _answer(self, method: str, path: str, headers: dict[str, str], body: bytes) -> tuple[int, Json]:
        path = path.removeprefix("/api/v10")
        request = {**_payload(headers, body), **dict(parse_qsl(headers.get(QUERY, "")))}
        for verb, pattern, respond in ROUTES:
            match = re.fullmatch(pattern, path)
            if verb == method and match is not None:
                self._check_token(path, headers)
                return respond(self, request, *match.groups())
        raise AnswerRefused(404, f"404: Not Found: {method} {path} is not modelled")

    def _check_token(self, path: str, headers: dict[str, str]) -> None:
        token = headers.get("authorization", "").removeprefix("Bot ")
        self._caller = token
        with_own_token = re.match(r"/(webhooks|interactions)/\d+/", path)
        if not with_own_token and token not in self.tokens:
            raise AnswerRefused(401, "401: Unauthorized")

    # --- the requests ---------------------------------------------------------------------------------------

    def get_gateway(self, _: JsonObject) -> tuple[int, Json]:
        limit = {"total": 1000, "remaining": 999, "reset_after": 1000, "max_concurrency": 1}
        return 200, {"url": self.gateway.url, "shards": 1, "session_start_limit": limit}

    def get_me(self, _: JsonObject) -> tuple[int, Json]:
        return 200, {**user_of(BOT_ID, "moot"), "bot": True, "mfa_enabled": False, "verified": True}

    def get_channel(self, _: JsonObject, id: str) -> tuple[int, Json]:
        return 200, self._channel(id).fields

    def get_messages(self, request: JsonObject, id: str) -> tuple[int, Json]:
        """The newest first, a page at a time."""
        if self.history_floods:
            raise self.flooded(self.history_floods.pop(0))
        channel = self._channel(id)
        if "history" in channel.lacking:
            return 200, []
        before = int(request.get("before") or 0)
        messages = [message for message in channel.messages if not before or int(message["id"]) < before]
        return 200, list(reversed(messages))[: int(request.get("limit") or 50)]

    def get_application(self, _: JsonObject) -> tuple[int, Json]:
        return 200, {
            "id": APP_ID,
            "name": "moot",
            "description": "",
            "bot_public": False,
            "bot_require_code_grant": False,
            "owner": user_of("1", "somebody"),
            "verify_key": "00",
            "flags": MESSAGE_CONTENT_FLAG if self.gateway.allows_message_content else 0,
            "approximate_guild_count": 1,
            "approximate_user_install_count": 0,
        }

    def get_commands(self, _: JsonObject, _id: str) -> tuple[int, Json]:
        return 200, self.commands if self._caller == self._reader else self.other_commands.get(
            self._caller, []
        )

    def get_webhooks(self, _: JsonObject, id: str) -> tuple[int, Json]:
        self._check_permission(self._channel(id), "webhooks")
        return 200, [hook for hook in self.webhooks.values() if hook["channel_id"] == self._channel(id).id]

    def make_webhook(self, request: JsonObject, id: str) -> tuple[int, Json]:
        channel = self._channel(id)
        self._check_permission(channel, "webhooks")
        _check_name(request["name"])
        hook: JsonObject = {
            "id": self.next_id(),
            "type": 1,
            "channel_id": channel.id,
            "guild_id": GUILD_ID,
            "name": request["name"],
            "avatar": None,
            "token": f"hook{len(self.webhooks)}",
            "application_id": APP_ID,
            "user": {**user_of(BOT_ID, "moot"), "bot": True},
        }
        self.webhooks[hook["id"]] = hook
        return 200, hook

    def execute_webhook(self, request: JsonObject, id: str, token: str) -> tuple[int, Json]:
        hook = self.webhooks.get(id)
        if hook is None or hook["token"] != token:
            raise AnswerRefused(404, "Unknown Webhook")
        name = request.get("username") or hook["name"]
        _check_name(name)
        channel = self._channel(request.get("thread_id") or hook["channel_id"])
        author = {**user_of(id, name), "bot": True}
        return 200, self._post(channel, author, request, name, webhook_id=id)

    def edit_webhook_message(
        self, request: JsonObject, _id: str, _token: str, message: str
    ) -> tuple[int, Json]:
        post = self._posted(message)
        post.text, post.buttons = request.get("content", post.text), _buttons(request)
        author = {**user_of(BOT_ID, post.name), "bot": True}
        return 200, self.message(self.channels[post.channel], post.id, author, post.text)

    def make_message(self, request: JsonObject, id: str) -> tuple[int, Json]:
        author = {**user_of(BOT_ID, "moot"), "bot": True}
        return 200, self._post(self._channel(id), author, request, "")

    def edit_message(self, request: JsonObject, id: str, message: str) -> tuple[int, Json]:
        return self.edit_webhook_message(request, id, "", message)

    def delete_webhook_message(self, _: JsonObject, _id: str, _token: str, message: str) -> tuple[int, Json]:
        post = self._posted(message)
        self.posts.remove(post)
        channel = self.channels[post.channel]
        channel.messages[:] = [one for one in channel.messages if one["id"] != message]
        return NO_CONTENT, None

    def delete_message(self, request: JsonObject, id: str, message: str) -> tuple[int, Json]:
        return self.delete_webhook_message(request, id, "", message)

    def type_in(self, _: JsonObject, id: str) -> tuple[int, Json]:
        self.typing.append(self._channel(id).id)
        return NO_CONTENT, None

    def set_commands(self, request: JsonObject, _id: str) -> tuple[int, Json]:
        self.commands = list(request.get("list", []))
        return 200, []

    def respond(self, request: JsonObject, id: str, _token: str) -> tuple[int, Json]:
        self.responses.append((id, request))
        return 200, {"interaction": {"id": id, "type": 2}}

    def _post(
        self, channel: FakeChannel, author: JsonObject, request: JsonObject, name: str, **more: Any
    ) -> JsonObject:
        if not more:  # a webhook needs no permission
            self._check_permission(channel, "send")
        text = str(request.get("content", ""))
        if not text.strip() or len(text) > MAX_TEXT:
            raise AnswerRefused(400, "Invalid Form Body: content has to be 1 to 2000 characters")
        is_lost = self.bad_luck()
        mentions = request.get("allowed_mentions")
        post = FakePost(
            self.next_id(),
            channel.id,
            name,
            text,
            _buttons(request),
            mentions,
            self._caller,
            str(request.get("avatar_url") or ""),
        )
        self.posts.append(post)
        body = {**self.message(channel, post.id, author, text), **more}
        channel.messages.append(body)
        self.dispatch(
            "MESSAGE_CREATE", self._as_received(channel, body)
        )  # a bot hears itself and its webhooks
        if is_lost:
            raise AnswerLost
        return body

    def _channel(self, id: str) -> FakeChannel:
        channel = self.channels.get(id)
        if channel is None:
            raise AnswerRefused(404, "Unknown Channel")
        if channel.forbidden or (channel.kind == DM and self._caller in self.tokens - {self._reader}):
            raise AnswerRefused(403, "Missing Access")
        return channel

    def _posted(self, id: str) -> FakePost:
        for post in self.posts:
            if post.id == id:
                return post
        raise AnswerRefused(404, "Unknown Message")

    def _check_permission(self, channel: FakeChannel, permission: str) -> None:
        if permission in channel.lacking:
            raise AnswerRefused(403, "Missing Permissions")


def _check_name(name: str) -> None:
    if not 1 <= len(name) <= 80 or any(word in name.lower() for word in REFUSED_NAMES):  # noqa: PLR2004
        raise AnswerRefused(400, f"Invalid Form Body: username {name!r}")


def _buttons(request: JsonObject) -> list[str]:
    return [part["label"] for row in request.get("components") or [] for part in row.get("components", [])]


def _payload(headers: dict[str, str], body: bytes) -> JsonObject:
    if not body:
        return {}
    kind = headers.get("content-type", "")
    if "multipart" in kind:
        match = re.search(rb'name="payload_json".*?\r\n\r\n(.*?)\r\n--', body, re.DOTALL)
        body = match[1] if match else b"{}"
    payload = json.decode(body)
    return payload if isinstance(payload, dict) else {"list": payload}


ROUTES: Final[tuple[tuple[str, str, Callable[..., tuple[int, Json]]], ...]] = (
    ("GET", r"/gateway/bot", FakeDiscord.get_gateway),
    ("GET", r"/users/@me", FakeDiscord.get_me),
    ("GET", r"/oauth2/applications/@me", FakeDiscord.get_application),
    ("GET", r"/applications/(\d+)/commands", FakeDiscord.get_commands),
    ("GET", r"/channels/(\d+)", FakeDiscord.get_channel),
    ("GET", r"/channels/(\d+)/messages", FakeDiscord.get_messages),
    ("GET", r"/channels/(\d+)/webhooks", FakeDiscord.get_webhooks),
    ("POST", r"/channels/(\d+)/webhooks", FakeDiscord.make_webhook),
    ("POST", r"/webhooks/(\d+)/([\w-]+)", FakeDiscord.execute_webhook),
    ("PATCH", r"/webhooks/(\d+)/([\w-]+)/messages/(\d+)", FakeDiscord.edit_webhook_message),
    ("POST", r"/channels/(\d+)/messages", FakeDiscord.make_message),
    ("PATCH", r"/channels/(\d+)/messages/(\d+)", FakeDiscord.edit_message),
    ("DELETE", r"/channels/(\d+)/messages/(\d+)", FakeDiscord.delete_message),
    ("DELETE", r"/webhooks/(\d+)/([\w-]+)/messages/(\d+)", FakeDiscord.delete_webhook_message),
    ("POST", r"/channels/(\d+)/typing", FakeDiscord.type_in),
    ("PUT", r"/applications/(\d+)/commands", FakeDiscord.set_commands),
    ("POST", r"/interactions/(\d+)/([\w-]+)/callback", FakeDiscord.respond),
)
