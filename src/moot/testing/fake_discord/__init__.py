"""Discord for tests, over real sockets: a REST API and a gateway that remember channels, webhooks and messages.

    async with FakeDiscord("bot-token") as server:
        channel = server.add_channel("general")
        bridge = DiscordBridge("bot-token", {}, api_url=server.url)

Modelled: identify, heartbeats and READY; resuming a session, which replays what was missed; compressed frames; the
message content intent, without which texts come empty; channels, threads and direct messages; webhooks with a name per
message, their refused names, and that what they post comes back to the bot; allowed mentions; 2,000 characters; slash
commands as they are registered and used; buttons; 401, 403, 404 and 429; headers that tell what is left of a channel's
bucket, and to wait; answers that break off; ids that grow with the time. Answers parse with hikari's own types.

Not modelled: guild members, roles, permissions beyond a few that a channel lacks, presences, voice, files, embeds,
reactions, shards, and 429 that come by themselves (they are set by a test).
"""

from moot.testing.fake_discord.rest_api import FakeDiscord
from moot.testing.fake_discord.server_state import FakeChannel, FakePost

__all__ = ["FakeChannel", "FakeDiscord", "FakePost"]
