"""`moot demo --tour support`: a help desk of three agents with links, and a customer whose question goes all the way.

It shows every message where it is said: in the conversation with the customer, over links, where the work is done.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from moot import shapes
from moot.brains.demo_desk import DESK, ENGINEER, LEAD
from moot.cli.commands import COMMANDS
from moot.cli.talk.watched_tour import WatchedTour
from moot.cli.terminal.screen import safe
from moot.hub import Hub
from moot.settings import load
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
AUDIT = "audit"


class SupportTour(WatchedTour):
    async def run(self, *, fast: bool) -> None:
        began = time.monotonic()
        self._make_home(TOML)
        agents = configured_agents(load(self._home), self._home, fast=fast)
        async with Hub.open(self._home.path, agents=agents) as hub:
            where = await self._fresh(hub)
            await self._introduce(hub)
            self._shown_messages = hub.position
            await hub.acting_as(CUSTOMER).post(where.id, QUESTION, force=["support"])
            await self._watch(hub)
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
        self._say_what_it_is("Scripted replies by a demo brain.")
        for link in await hub.links.list():
            say(f"  {safe(link.sentence)}")
        say()

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
        self._say_what_is_next(LESSON, self._next(link.id, where))

    def _next(self, link: str, where: shapes.Conversation) -> Iterator[str]:
        yield "topology show"
        yield f"links show {link}"
        yield "tasks list"
        yield f"why {where.name}:1"
        if AUDIT in COMMANDS:
            yield "audit verify"
