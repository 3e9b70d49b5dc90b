"""`moot demo --tour support`: a help desk of three agents with links, and a customer whose question goes all the way.

It shows every message where it is said: in the conversation with the customer, over links, where the work is done.
"""

from __future__ import annotations

import asyncio
import time
from contextlib import suppress
from typing import TYPE_CHECKING

from moot import shapes
from moot.brains.demo_desk import DESK, ENGINEER, LEAD
from moot.cli.commands import COMMANDS
from moot.cli.frame.session import Session
from moot.cli.run.welcome import shown
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.hub import Hub
from moot.model.json import JsonObject
from moot.settings import Home, load
from moot.wiring import configured_agents

if TYPE_CHECKING:
    from collections.abc import Iterator

SIGN = "# The help desk of `moot demo --tour support`. Scripted: no model is called."
TOML = f"""{SIGN}
[hub]
port = 0  # any free one

[[agents]]
name = "manager"
role = "{LEAD}"
brain = "demo"

[[agents]]
name = "support"
role = "{DESK}"
brain = "demo"

[[agents]]
name = "engineering"
role = "{ENGINEER}"
brain = "demo"

[[links]]
from = "manager"
to = "support"
relationship = "superior"

[[links]]
from = "manager"
to = "engineering"
relationship = "superior"
"""
PLACE = "help-desk"
CUSTOMER = "customer"
QUESTION = "The total of my invoice is 3 cents too high. Why?"
LESSON = (
    "You saw: a question is escalated over a link, delegated down another, worked on in a conversation of its own,\n"
    "reported back, and answered. support and engineering have no link: they could not have written to each other."
)
LONGEST_SECONDS = 60.0
AUDIT = "audit"


class SupportTour:
    def __init__(self, session: Session, home: Home) -> None:
        self._session = session
        self._screen: Screen = session.screen
        self._home = home
        self._places: dict[str, str] = {}
        """Conversation → what it is called here."""
        self._seen = 0
        self._messages: list[JsonObject] = []

    async def run(self, *, fast: bool) -> None:
        began = time.monotonic()
        self._home.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._home.make()
        if not self._home.toml.exists():
            self._home.toml.write_text(TOML, encoding="utf-8")
        agents = configured_agents(load(self._home), self._home, fast=fast)
        async with Hub.open(self._home.path, agents=agents) as hub:
            where = await self._fresh(hub)
            await self._introduce(hub)
            self._seen = hub.position
            await hub.acting_as(CUSTOMER).post(where.id, QUESTION, force=["support"])
            await self._watched(hub)
            await self._conclude(hub, where, time.monotonic() - began)

    async def _fresh(self, hub: Hub) -> shapes.Conversation:
        """Every tour begins anew; earlier ones stay readable in the archive."""
        for old in await hub.conversations.list(kind="group"):
            if old.name == PLACE:
                await hub.conversations.archive(old.id)
        if CUSTOMER not in {node.name for node in (await hub.topology()).agents}:
            await hub.agents.create(CUSTOMER, human=True)
        settings = {"reply_strategy": "mention_only", "cooldown_seconds": 0.0}
        return await hub.conversations.create(PLACE, participants=[CUSTOMER, "support"], settings=settings)

    async def _introduce(self, hub: Hub) -> None:
        say = self._screen.say
        say(
            f"{self._screen.strong('DEMO')}  Scripted replies by a demo brain. No model is called and nothing"
        )
        say("      leaves this machine.")
        say(f"      Separate home: {shown(self._home.path)}   (remove it with: moot demo --reset)\n")
        for link in await hub.links.list():
            say(f"  {safe(link.sentence)}")
        say()

    # --- what happens ------------------------------------------------------------------------------------

    async def _watched(self, hub: Hub) -> None:
        """Show everything until nobody has anything left to do."""
        follower = asyncio.ensure_future(self._follow(hub))
        try:
            await hub.settled(timeout=LONGEST_SECONDS)
        finally:
            follower.cancel()
            with suppress(asyncio.CancelledError):
                await follower
        for event in (await hub.history.past(self._seen)).events:
            await self._show(hub, event)

    async def _follow(self, hub: Hub) -> None:
        async for event in hub.events(after=self._seen):
            await asyncio.shield(self._show(hub, event))

    async def _show(self, hub: Hub, event: shapes.Event) -> None:
        if event.id is None or int(event.id) <= self._seen:
            return
        self._seen = int(event.id)
        if event.type == "message.posted":
            self._messages.append(event.body)
            where = await self._place(hub, event.body["conversation"])
            self._screen.say("\n".join(self._lines(event.body, where)))
        elif event.type == "task.changed" and event.body.get("note"):
            self._screen.say(
                self._screen.dim(f"  task of engineering: working, {safe(event.body['note'])}\n")
            )

    def _lines(self, message: JsonObject, where: str) -> Iterator[str]:
        text = safe(message["text"])
        if message["kind"] == "system":
            yield self._screen.dim(f"  {where}: {text.strip('[]')}\n")
            return
        who = message["from"]
        named = self._screen.name(who) if message["kind"] == "agent" else who
        meant = f", {message['intent']}" if message["intent"] else ""
        chip = ", demo" if message["kind"] == "agent" else ""
        yield f"{named}{chip}, {clock_time(message['at'])}, {where}{meant}:"
        yield f"{text}\n"

    async def _place(self, hub: Hub, id: str) -> str:
        if id not in self._places:
            found = await hub.conversations.get(id)
            ends = " and ".join(seat.name for seat in found.participants)
            words = {
                "link": f"over the link of {ends}",
                "task": f"in the task's own conversation {found.name}",
            }
            self._places[id] = safe(words.get(found.kind, f"in #{found.name}"))
        return self._places[id]

    # --- at the end --------------------------------------------------------------------------------------

    async def _conclude(self, hub: Hub, where: shapes.Conversation, seconds: float) -> None:
        tasks = await hub.tasks.list()
        [link, *_] = await hub.links.list(between="manager,support")
        if self._session.json:
            newest = await hub.newest(where.id)
            self._screen.data(
                {
                    "brain": "demo/1",
                    "conversation": where.to_dict(),
                    "messages": self._messages,
                    "task": tasks[-1].to_dict(),
                    "answer": newest[-1].to_dict(),
                    "seconds": round(seconds, 3),
                }
            )
            return
        say = self._screen.say
        say(LESSON)
        say("\nTry next:")
        for words in self._next(link.id, where):
            say(f"  moot --home {shown(self._home.path)} {words}")

    def _next(self, link: str, where: shapes.Conversation) -> Iterator[str]:
        yield "topology show"
        yield f"links show {link}"
        yield "tasks list"
        yield f"why {where.name}:1"
        if AUDIT in COMMANDS:
            yield "audit verify"
