"""A Bot API server for tests, over real sockets: it remembers chats, members and unconfirmed updates.

    async with FakeTelegram() as server:
        server.add_bot("111:aaa", "writer_bot")
        group = server.add_supergroup("Team A", "111:aaa")
        bridge = TelegramBridge({"writer": "111:aaa"}, api_url=server.url)

Modelled: a queue of updates per bot that is repeated until it is confirmed by an offset; 409 for two pollers of one
token; 429 with `retry_after`; privacy mode, administrators, bots that see other bots; message ids that are common in
supergroups and count per account in basic groups and private chats; migration of a basic group; topics; edits, replies
and buttons; 400 for entities outside their text, for empty texts and for more than 4,096 UTF-16 units; 401 and 403;
answers that break off; drafts in private chats; commands, where they are offered; webhooks, which are called with their
secret, one update after the other, until each is answered with 200. Answers parse with python-telegram-bot's types.

Not modelled: files and media beyond their kind, channels, inline mode, payments, stickers, reactions, business
accounts, rate limits that count by themselves (they are set by a test), `parse_mode` (which is refused), and that a
webhook has to have a certificate.
"""

from moot.testing.fake_telegram.bot_api import FakeTelegram
from moot.testing.fake_telegram.chat_world import FakeBot, FakeChat, SentMessage

__all__ = ["FakeBot", "FakeChat", "FakeTelegram", "SentMessage"]
