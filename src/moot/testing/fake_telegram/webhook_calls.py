"""Calls to a bot's webhook, with its secret: one update after the other, each until it is answered with 200."""

import asyncio
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from msgspec import json

from moot.testing.fake_telegram.chat_world import FakeBot

if TYPE_CHECKING:
    from moot.testing.fake_telegram.chat_world import ChatWorld

AGAIN_SECONDS: Final = 0.05
SECRET: Final = "X-Telegram-Bot-Api-Secret-Token"


class WebhookCalls:
    def __init__(self, world: "ChatWorld") -> None:
        self._world = world
        self._tasks: dict[str, asyncio.Task[None]] = {}

    def serve(self, bot: FakeBot) -> None:
        running = self._tasks.get(bot.token)
        if running is None or running.done():
            self._tasks[bot.token] = asyncio.ensure_future(self._call_all(bot))

    async def close(self) -> None:
        for task in self._tasks.values():
            task.cancel()
        await asyncio.gather(*self._tasks.values(), return_exceptions=True)

    async def _call_all(self, bot: FakeBot) -> None:
        while bot.webhook:
            if not bot.queue:
                bot.grown.clear()
                await bot.grown.wait()
                continue
            update = bot.queue[0]
            if await call_webhook(bot.webhook, bot.secret, json.encode(update)) == 200:  # noqa: PLR2004
                bot.queue = [one for one in bot.queue if one is not update]
            else:
                await asyncio.sleep(AGAIN_SECONDS)


async def call_webhook(url: str, secret: str, body: bytes) -> int:
    """The status that a webhook answers with; 0 if nobody answers."""
    parts = urlsplit(url)
    try:
        reader, writer = await asyncio.open_connection(parts.hostname, parts.port)
    except OSError:
        return 0
    head = [
        f"POST {parts.path} HTTP/1.1",
        f"Host: {parts.netloc}",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
        *([f"{SECRET}: {secret}"] if secret else []),
        "Connection: close",
    ]
    try:
        writer.write("\r\n".join([*head, "", ""]).encode() + body)
        await writer.drain()
        answer = await reader.readline()
        return int(answer.split()[1]) if answer else 0
    except OSError:
        return 0
    finally:
        writer.close()
