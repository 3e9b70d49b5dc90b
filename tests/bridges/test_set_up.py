"""Set up from the shell, as the how-to says: what is missing, what is checked, pairing, accounts, sending again."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from moot import Hub
from moot.bridges.start import enabled, open_bridges
from moot.settings import DiscordSettings, TelegramSettings
from moot.settings.values import BridgeSettings
from moot.testing.fake_telegram import FakeTelegram
from tests.bridges.conftest import player
from tests.doors.cli.shell import Shell, Told
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("G-13")

TOKENS = {"T_WRITER": "111:secret-of-writer", "T_CRITIC": "222:secret-of-critic"}
TOML = """
[groups]
cooldown_seconds = 0.0
reactive_round = false
[bridges.telegram]
api_url = "{url}"
bots.writer = "${{T_WRITER}}"
bots.critic = "${{T_CRITIC}}"
"""


class SetUp:
    """A home that is set up for a fake Telegram, and the words typed in it."""

    def __init__(self, home: Path, server: FakeTelegram) -> None:
        self.home = home
        self.server = server
        self._shell = Shell(home)
        home.chmod(0o700)
        (home / "moot.toml").write_text(TOML.format(url=server.url))

    async def moot(self, *words: str, tokens: bool = True) -> Told:
        env = TOKENS if tokens else dict.fromkeys(TOKENS, "")
        told = await asyncio.to_thread(self._shell.moot, *words, env=env)
        shown = told.out + told.err
        if any(token.partition(":")[2] in shown for token in TOKENS.values()):
            raise RuntimeError(f"a token is shown by {words}")
        return told


@pytest.fixture
async def set_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[SetUp]:
    for name, token in TOKENS.items():
        monkeypatch.setenv(name, token)
    async with FakeTelegram() as server:
        server.add_bot(TOKENS["T_WRITER"], "writer_bot")
        server.add_bot(TOKENS["T_CRITIC"], "critic_bot", privacy=True)
        yield SetUp(tmp_path, server)


async def test_each_step_says_what_is_missing_and_what_is_wrong(set_up: SetUp) -> None:
    lacking = await set_up.moot("bridge", "telegram", "setup", tokens=False)
    assert "bots.writer has no token: its variable is not set" in lacking.out
    steps = await set_up.moot("bridge", "telegram", "setup")
    assert "@BotFather" in steps.out
    assert "the settings are complete" in steps.out
    tested = await set_up.moot("bridge", "telegram", "test")
    assert "@writer_bot: token accepted, speaks for writer" in tested.out
    assert "/setprivacy" in tested.out
    del set_up.server.bots[TOKENS["T_CRITIC"]]
    broken = await set_up.moot("bridge", "test", "telegram")
    assert broken.code == 1
    assert "does not accept the token of critic's bot" in broken.out
    doctor = await set_up.moot("doctor", "bridge")
    assert "does not accept the token of critic's bot" in doctor.out


async def test_a_chat_is_paired_its_account_linked_and_a_post_sent_again(set_up: SetUp) -> None:
    server = set_up.server
    group = server.add_supergroup("Team A", *TOKENS.values())
    agents = [player("writer"), player("critic")]
    async with Hub.open(set_up.home, agents=agents) as hub, open_bridges(hub) as [worker]:
        await asyncio.wait_for(worker.is_running.wait(), PATIENCE)
        line = (await set_up.moot("bridge", "telegram", "add")).out.strip()
        server.say(group, 1001, "Karl", line)
        await until(lambda: posts(server, group.id), lambda texts: any("Paired" in one for one in texts))
        server.breaks.append(False)
        server.say(group, 1001, "Karl", "@writer_bot hello")
        await until(lambda: hub.bridges.posts("unconfirmed"), bool)
        listed = await set_up.moot("bridge", "posts", "--json")
        [post] = listed.json["posts"] if isinstance(listed.json, dict) else listed.json
        assert post["state"] == "unconfirmed"
        assert (await set_up.moot("bridge", "resend", post["id"])).code == 0
        await until(lambda: posts(server, group.id), lambda texts: "writer answers writer hello" in texts)
        linked = await set_up.moot("people", "link", "telegram", "1001", "user")
        assert "linked" in linked.out
        status = await set_up.moot("bridge", "telegram", "status", "--json")
        assert [one["person"] for one in status.json["accounts"]] == ["user"]


async def posts(server: FakeTelegram, chat: int) -> list[str]:
    return [post.text for post in server.posts_in(chat)]


def test_a_bridge_that_is_switched_off_does_not_run() -> None:
    settings = BridgeSettings(TelegramSettings(enabled=False), DiscordSettings(token="x"))
    assert list(enabled(settings)) == ["discord"]
    assert enabled(BridgeSettings()) == {}


async def test_a_bridge_that_cannot_start_leaves_the_other_alone(set_up: SetUp) -> None:
    toml = set_up.home / "moot.toml"
    toml.write_text(toml.read_text() + "[bridges.discord]\n")
    async with Hub.open(set_up.home, agents=[player("writer")]) as hub, open_bridges(hub) as workers:
        assert [worker.bridge.name for worker in workers] == ["telegram"]


async def test_bots_that_hear_other_bots_are_found_out_and_told_once(set_up: SetUp) -> None:
    server = set_up.server
    for bot in server.bots.values():
        bot.sees_bots = True
    group = server.add_supergroup("Team A", *TOKENS.values())
    agents = [player("writer"), player("critic")]
    async with Hub.open(set_up.home, agents=agents) as hub, open_bridges(hub) as [worker]:
        await asyncio.wait_for(worker.is_running.wait(), PATIENCE)
        for _ in range(3):
            server.say_as_bot(group, TOKENS["T_CRITIC"], "hello, colleague")
        letters = await until(hub.bridges.dead_letters, bool)
        assert [letter.key for letter in letters] == ["bot-to-bot/writer_bot"]
    tested = await set_up.moot("bridge", "telegram", "test")
    assert "@writer_bot: bot-to-bot mode is on for @writer_bot" in tested.out
    assert "switch Bot-to-Bot Communication Mode off" in tested.out
    status = await set_up.moot("bridge", "telegram", "status")
    assert "✗ bot-to-bot/writer_bot: bot-to-bot mode is on" in status.out
