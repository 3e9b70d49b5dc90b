"""The full-screen chat with a hub behind it and a person at its keys, by Textual's pilot."""

import asyncio
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, cast

from textual import events
from textual.pilot import Pilot

from moot import Hub, agent
from moot.brains.code import AgentSpec
from moot.cli.frame.session import Session
from moot.cli.tui.chat_app import ChatApp
from moot.cli.tui.chat_room import ChatPlan
from moot.cli.tui.hub_link import HubLink
from moot.cli.tui.remark_screen import RemarkScreen
from moot.cli.tui.room_keys import KeyedRoom
from moot.client import RemoteHub
from tests.support.waiting import PATIENCE

NAMES = {" ": "space", "@": "at", "/": "slash"}
ROUNDS = 8
"""Messages from one to the next that a key sets off at most: the program, the draft, what is around it, the room."""
COOL = "[groups]\ncooldown_seconds = 0\n"


class Gate:
    """An agent that says a first piece, waits until it is let go, and says the rest."""

    def __init__(self, name: str, first: str = "first words", rest: str = " and the rest") -> None:
        self.go = asyncio.Event()

        async def brain(turn: Any) -> str | None:
            if not turn.must_answer:
                return "[PASS]"
            await turn.say(first)
            await self.go.wait()
            await turn.say(rest)
            return None

        self.spec = agent(name, role=f"{name} waits")(brain)


def echo(name: str, *, role: str = "echoes") -> AgentSpec:
    @agent(name, role=role)
    async def brain(turn: Any) -> str:
        return f"{name} heard: {turn.text.replace('@', '')}" if turn.must_answer else "[PASS]"

    return brain


class Chat:
    """A chat in a test."""

    def __init__(self, app: ChatApp, pilot: Pilot[int], hub: Hub) -> None:
        self.app = app
        self.pilot = pilot
        self.hub = hub

    @property
    def room(self) -> KeyedRoom:
        return self.app.room

    @property
    def draft(self) -> str:
        return self.room.composer.text

    @property
    def rows(self) -> list[str]:
        """What a person sees, row by row."""
        strips = self.app.screen._compositor.render_strips()
        return ["".join(segment.text for segment in strip).rstrip() for strip in strips]

    @property
    def seen(self) -> str:
        return "\n".join(self.rows)

    @property
    def left(self) -> int | None:
        """With which code the person has left, once they have."""
        return self.app.return_value

    @property
    def focus(self) -> str:
        return (self.room.focused.id or "") if self.room.focused is not None else ""

    @property
    def hints(self) -> str:
        return self.rows[-1].strip()

    async def type(self, text: str) -> None:
        """Letter by letter, as fast as they are taken."""
        for letter in text:
            self.app.post_message(events.Key(NAMES.get(letter, letter), letter))
        await self._taken()

    async def press(self, *keys: str) -> None:
        """One after the other: each has had its effect before the next one comes."""
        for key in keys:
            self.app.post_message(events.Key(key, key if len(key) == 1 else None))
            await self._taken()

    async def _taken(self) -> None:
        """Until the keys had their effect, on the menu too. Each round is over when everybody has read the messages
        that waited at its beginning; Textual's own pause guesses by how busy the process is, and a process that gets
        no processor looks idle."""
        for _ in range(ROUNDS):
            await self.pilot._wait_for_screen(PATIENCE)

    async def send(self, text: str) -> None:
        """Type it and send it, whatever the menus offer."""
        await self.type(text)
        if self.room.menu.is_open:
            await self.press("escape")
        await self.press("enter")
        await self.until(lambda: not self.draft)

    async def until(self, holds: Callable[[], object]) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                while not holds():
                    await self.pilot.pause(0.02)
        except TimeoutError:
            raise AssertionError(f"it did not come about; seen:\n{self.seen}") from None

    async def until_seen(self, *texts: str) -> None:
        await self.until(lambda: all(text in self.seen for text in texts))

    async def until_gone(self, text: str) -> None:
        await self.until(lambda: text not in self.seen)

    async def said(self, ref: str = "work") -> list[tuple[str, str]]:
        return [(message.sender, message.text) for message in await self.hub.newest(ref)]

    def row_of(self, text: str) -> int:
        return next(number for number, row in enumerate(self.rows) if re.search(text, row))


def settle(home: Path) -> None:
    """A home where nobody has to wait for a cooldown."""
    home.mkdir(mode=0o700, exist_ok=True)
    (home / "moot.toml").write_text(COOL, encoding="utf-8")


@asynccontextmanager
async def chat_with(
    hub: Hub | RemoteHub,
    where: str,
    *,
    size: tuple[int, int] = (100, 30),
    plan: ChatPlan | None = None,
    reopen: Callable[[], Awaitable[Hub | RemoteHub]] | None = None,
) -> AsyncIterator[Chat]:
    link = HubLink(cast("Hub", hub), cast("Callable[[], Awaitable[Hub]] | None", reopen))
    session = Session()
    plan = plan or ChatPlan()
    app = ChatApp(session, link, await link.snapshot(where, plan.many), plan)
    session.screen = RemarkScreen(app.room.remark)
    async with app.run_test(size=size) as pilot:
        await pilot.pause()
        yield Chat(app, pilot, cast("Hub", hub))
        await app.room.talk.close()


@asynccontextmanager
async def chatting(
    home: Path,
    agents: Sequence[AgentSpec],
    *,
    kind: str = "group",
    size: tuple[int, int] = (100, 30),
    plan: ChatPlan | None = None,
) -> AsyncIterator[Chat]:
    """A hub of one's own with these agents, and a chat in #work, or with the first of them."""
    settle(home)
    async with Hub.open(home, agents=agents) as hub:
        names = [spec.name for spec in agents]
        where = (
            await hub.conversations.create("work", participants=names)
            if kind == "group"
            else await hub.conversations.implicit(names[:1])
        )
        async with chat_with(hub, where.id, size=size, plan=plan) as chat:
            yield chat
