"""The same line means the same, and is answered the same, in a chat app as everywhere else."""

import pytest

from moot.errors import MootError
from moot.hub.commands.slash import At, carry_out
from moot.rules.words import slash
from tests.bridges.stage import Stage
from tests.bridges.worlds import KARL

pytestmark = pytest.mark.req("G-11", "G-12")

LINES = (
    "/group list",
    "/group config max_depth 1",
    "/group config",
    "/why 1",
    "/continue",
    "/stop",
    "/retry",
    "/agents",
    "/turns 2",
    "/links",
    "/help group",
)
REFUSED = ("/compact", "/why x", "/group frobnicate", "/ask nobody hi")
AT_A_TERMINAL = ("/export", "/switch other", "/theme dark", "/keys")


async def elsewhere(stage: Stage, where: str, line: str) -> str:
    """What the terminal and the page are told: they hand the line to the same two functions."""
    command = slash.parse(line)
    assert not isinstance(command, slash.Say)
    done = await carry_out(command, At(stage.hub, await stage.hub.conversations.get(where)))
    return without_marks("\n".join(done.lines))


async def test_each_command_is_answered_as_everywhere(stage: Stage) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    stage.world.say(chat, KARL, "@writer hello")
    await stage.quiet()
    for line in LINES:
        assert await here(stage, chat, line) == await elsewhere(stage, where, line), line
    removed = await here(stage, chat, "/group remove critic")
    added = await elsewhere(stage, where, "/group add critic")
    assert await elsewhere(stage, where, "/group remove critic") == removed
    assert await here(stage, chat, "/group add critic") == added


async def here(stage: Stage, chat: str, line: str) -> str:
    before = len(stage.world.posts(chat))
    stage.world.say(chat, KARL, line)
    return without_marks("\n".join(post.text for post in await stage.shown(chat, before)))


async def test_what_is_refused_elsewhere_is_refused_here_and_never_said(stage: Stage) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    said = await stage.said(where)
    for line in REFUSED:
        with pytest.raises(MootError) as refusal:
            await elsewhere(stage, where, line)
        assert without_marks(refusal.value.title) in await here(stage, chat, line)
    for line in AT_A_TERMINAL:
        assert without_marks("is for chats in a terminal") in await here(stage, chat, line)
    assert await stage.said(where) == said


async def test_asking_wakes_the_same_agents_as_everywhere(stage: Stage) -> None:
    chat, where = await stage.group()
    await stage.hub.bridges.link(stage.world.bridge_name, KARL, "user")
    for line, speakers in (("/ask writer critic go", ["writer", "critic"]), ("@analyst go", ["analyst"])):
        before = len(await stage.said(where))
        stage.world.say(chat, KARL, line)
        await stage.quiet()
        assert [sender for sender, _ in (await stage.said(where))[before:]] == ["user", *speakers]
    before = len(await stage.said(where))
    stage.world.say(chat, KARL, "/all go")
    await stage.quiet()
    asked = {sender for sender, _ in (await stage.said(where))[before:]}
    assert asked == {"user", "analyst", "writer", "critic"}


def without_marks(text: str) -> str:
    """Chat apps draw a text, and cut it into pieces; the letters are the same."""
    return "".join(letter for letter in text if letter.isalnum())
