"""A tour that plays by itself: every message is shown with its conversation, until nobody has anything left to do.

Above: demo_support.py, demo_clis.py. Below: the events of a hub.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from contextlib import suppress

from moot import shapes
from moot.cli.frame.session import Session
from moot.cli.run.welcome import tilde_path
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.hub import Hub
from moot.model.json import JsonObject
from moot.settings import Home

MAX_TOUR_SECONDS = 60.0


class WatchedTour:
    def __init__(self, session: Session, home: Home) -> None:
        self._session = session
        self._screen: Screen = session.screen
        self._home = home
        self._places: dict[str, str] = {}
        """Conversation → what it is called here."""
        self._shown_messages = 0
        self._messages: list[JsonObject] = []

    def _make_home(self, toml: str) -> None:
        self._home.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._home.make()
        if not self._home.toml.exists():
            self._home.toml.write_text(toml, encoding="utf-8")

    def _say_what_it_is(self, first: str) -> None:
        say = self._screen.say
        say(f"{self._screen.strong('DEMO')}  {first} No model is called and nothing")
        say("      leaves this machine.")
        say(f"      Separate home: {tilde_path(self._home.path)}   (remove it with: moot demo --reset)\n")

    def _say_what_is_next(self, lesson: str, commands: Iterator[str]) -> None:
        self._screen.say(lesson)
        self._screen.say("\nTry next:")
        for words in commands:
            self._screen.say(f"  moot --home {tilde_path(self._home.path)} {words}")

    # --- what happens ------------------------------------------------------------------------------------

    async def _watch(self, hub: Hub) -> None:
        """Show everything until nobody has anything left to do."""
        follower = asyncio.ensure_future(self._follow(hub))
        try:
            await hub.settled(timeout=MAX_TOUR_SECONDS)
        finally:
            follower.cancel()
            with suppress(asyncio.CancelledError):
                await follower
        for event in (await hub.history.past(self._shown_messages)).events:
            await self._show(hub, event)

    async def _follow(self, hub: Hub) -> None:
        async for event in hub.events(after=self._shown_messages):
            await asyncio.shield(self._show(hub, event))

    async def _show(self, hub: Hub, event: shapes.Event) -> None:
        if event.id is None or int(event.id) <= self._shown_messages:
            return
        self._shown_messages = int(event.id)
        if event.type == "message.posted":
            self._messages.append(event.body)
            where = await self._place(hub, event.body["conversation"])
            self._screen.say("\n".join(self._lines(event.body, where)))
        elif event.type == "task.changed" and event.body.get("note"):
            note = f"  task of {safe(event.body['to'])}: working, {safe(event.body['note'])}\n"
            self._screen.say(self._screen.dim(note))

    def _lines(self, message: JsonObject, where: str) -> Iterator[str]:
        text = safe(message["text"])
        if message["kind"] in ("system", "tool"):
            author = f"{message['metadata'].get('for', '')} used {message['metadata'].get('tool', '')}"
            words = text.strip("[]") if message["kind"] == "system" else f"{author}: {' '.join(text.split())}"
            yield self._screen.dim(f"  {where}: {words}\n")
            return
        author = message["from"]
        speaker = self._screen.name(author) if message["kind"] == "agent" else author
        intent_words = f", {message['intent']}" if message["intent"] else ""
        chip = ", demo" if message["kind"] == "agent" else ""
        cut = ", interrupted" if message["metadata"].get("partial") else ""
        yield f"{speaker}{chip}, {clock_time(message['at'])}, {where}{intent_words}{cut}:"
        yield f"{text}\n"

    async def _place(self, hub: Hub, id: str) -> str:
        if id not in self._places:
            conversation = await hub.conversations.get(id)
            ends = " and ".join(seat.name for seat in conversation.participants)
            words = {
                "link": f"over the link of {ends}",
                "task": f"in the task's own conversation {conversation.name}",
                "direct": f"between {ends}",
            }
            self._places[id] = safe(words.get(conversation.kind, f"in #{conversation.name}"))
        return self._places[id]
