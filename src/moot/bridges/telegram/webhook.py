"""Updates by webhook: a listener for Telegram's calls, each of which carries a secret that only Telegram knows.

Above: bridge.py, where moot.toml names an address. Below: uvicorn. The secret is compared before anything is read. An
update is answered with 200 once it is stored; on any other answer Telegram delivers it again. One call per bot at a
time, so that a chat's messages stay in order.
"""

import asyncio
import hmac
import re
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from typing import Any, Final

import structlog
import uvicorn
from msgspec import DecodeError, Struct, json
from telegram.error import TelegramError

from moot.bridges.telegram.connection import AgentBot
from moot.errors import BadValue, MootError
from moot.model.json import JsonObject

log = structlog.get_logger("moot.bridges")

SECRET: Final = b"x-telegram-bot-api-secret-token"
MAX_BODY_BYTES: Final = 1 << 20
_secret = re.compile(r"[A-Za-z0-9_-]{16,256}").fullmatch
_listen = re.compile(r"([A-Za-z0-9_.-]{1,255}|\[[0-9A-Fa-f:]+\]):(\d{1,5})").fullmatch

Take = Callable[[AgentBot, JsonObject], Awaitable[None]]


class WebhookPlan(Struct, frozen=True):
    url: str
    """Where Telegram calls, from outside; each bot behind its agent's name."""
    secret: str
    host: str
    port: int

    def address(self, agent: str) -> str:
        return f"{self.url.rstrip('/')}/{agent}"


def webhook_plan(url: str, secret: str, listen: str) -> WebhookPlan | None:
    """The plan that moot.toml describes, or None if the bots poll."""
    if not url:
        return None
    if not url.startswith("https://") and not url.startswith("http://127.0.0.1"):
        raise BadValue("webhook_url has to begin with https://", detail="Telegram calls nothing else")
    if _secret(secret) is None:
        raise BadValue(
            "webhook_secret is missing or cannot be used",
            detail="16 to 256 letters, digits, - and _; without it anybody could speak as Telegram",
            fix=('webhook_secret = "${TELEGRAM_WEBHOOK_SECRET}"',),
        )
    match = _listen(listen)
    if match is None:
        raise BadValue(
            f'webhook_listen "{listen}" is not HOST:PORT', fix=('webhook_listen = "127.0.0.1:8443"',)
        )
    return WebhookPlan(url, secret, match[1].strip("[]"), int(match[2]))


class UnsignalledServer(uvicorn.Server):
    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield  # the hub has its own


class WebhookListener:
    def __init__(self, plan: WebhookPlan, bots: dict[str, AgentBot], take: Take) -> None:
        self._plan = plan
        self._bots = bots
        self._take = take

    async def serve(self, kinds: list[str]) -> None:
        """Until cancelled: tell Telegram where to call, and listen."""
        config = uvicorn.Config(
            self, self._plan.host, self._plan.port, log_config=None, access_log=False, lifespan="off"
        )
        for agent, bot in self._bots.items():
            await bot.bot.set_webhook(
                self._plan.address(agent),
                secret_token=self._plan.secret,
                allowed_updates=kinds,
                max_connections=1,
            )
        server = UnsignalledServer(config)
        try:
            await server.serve()
        except asyncio.CancelledError:
            await asyncio.shield(server.shutdown())
            raise
        except SystemExit as error:  # how uvicorn reports that an address is in use
            raise BadValue(
                f"the webhook cannot listen on {self._plan.host}:{self._plan.port}",
                detail="another program has that port",
                fix=("set webhook_listen to another one",),
            ) from error

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        status = await self._status(scope, receive) if scope["type"] == "http" else 404
        await send({"type": "http.response.start", "status": status, "headers": [(b"content-length", b"0")]})
        await send({"type": "http.response.body", "body": b""})

    async def _status(self, scope: Any, receive: Any) -> int:
        secret = dict(scope["headers"]).get(SECRET, b"")
        if not hmac.compare_digest(secret, self._plan.secret.encode()):
            return 403
        bot = self._bots.get(str(scope["path"]).rpartition("/")[2])
        if bot is None or scope["method"] != "POST":
            return 404
        body = await _body(receive)
        if body is None:
            return 413
        try:
            update = json.decode(body, type=dict)
        except DecodeError:
            return 400
        try:
            await self._take(bot, update)
        except (MootError, TelegramError) as trouble:
            log.error("not stored", action="webhook_failed", bot=bot.username, error=str(trouble))
            return 503
        return 200


async def _body(receive: Any) -> bytes | None:
    body = bytearray()
    while True:
        part = await receive()
        body += part.get("body", b"")
        if len(body) > MAX_BODY_BYTES:
            return None
        if not part.get("more_body"):
            return bytes(body)
