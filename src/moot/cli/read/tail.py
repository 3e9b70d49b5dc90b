"""Commands that only read: tail, turns."""

from __future__ import annotations

import asyncio
import re
import time
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

import click
from msgspec import Struct

from moot import shapes
from moot.cli.frame import resolve
from moot.cli.frame.hub_access import open_hub, reading_hub, with_reading
from moot.cli.frame.params import leaf
from moot.cli.frame.session import Session
from moot.cli.terminal.phrases import addresses, is_agent, marks_of, title
from moot.cli.terminal.screen import clock_time, safe
from moot.errors import BadValue
from moot.model.event import EventType

if TYPE_CHECKING:
    from moot.hub import Hub

NEWEST = 20
UNITS = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def seconds(text: str) -> float:
    """`10m`, `2h`, `90s`, `1d`."""
    match = re.fullmatch(r"(\d+)([smhd])", text)
    if match is None:
        raise BadValue(f'"{text}" is not a time span', detail="expected for example 90s, 10m, 2h or 1d")
    return int(match[1]) * UNITS[match[2]]


@leaf("tail", examples=("moot tail -f", "moot tail --conv build --since 10m --jsonl"))
@click.option("-f", "--follow", is_flag=True, help="Follow until interrupted.")
@click.option("--conv", metavar="ID", help="Only this conversation.")
@click.option("--agent", metavar="NAME", help="Only this participant's messages.")
@click.option("--since", metavar="SPAN", help="Only messages from the last SPAN, such as 10m.")
@click.option("--jsonl", is_flag=True, help="One JSON message per line.")
def tail(session: Session, **options: Any) -> None:
    """Show the newest messages, or follow them."""
    asyncio.run(TailCommand(session, TailOptions(**options)).run())


class TailOptions(Struct, frozen=True):
    follow: bool
    conv: str | None
    agent: str | None
    since: str | None
    jsonl: bool


class TailCommand:
    def __init__(self, session: Session, options: TailOptions) -> None:
        self._session = session
        self._conv = options.conv
        self._agent = options.agent
        self._span = seconds(options.since) if options.since else None
        self._is_followed = options.follow
        self._lines = options.jsonl or (options.follow and session.json)
        self._places: dict[str, shapes.Conversation] = {}

    async def run(self) -> None:
        open_it = open_hub if self._is_followed else reading_hub
        async with open_it(self._session) as hub:
            after = hub.position
            self._conv = (await resolve.place(hub, self._conv)).id if self._conv else None
            self._agent = await resolve.agent(hub, self._agent) if self._agent else None
            messages = await self._newest(hub, self._span)
            if self._session.json and not self._lines:
                self._session.screen.data([message.to_dict() for message in messages])
                return
            for message in messages:
                await self._show(hub, message)
            if self._is_followed:
                await self._follow(hub, after)

    async def _newest(self, hub: Hub, span: float | None) -> list[shapes.Message]:
        places = await self._places_to_read(hub, span)
        start = datetime.fromtimestamp(time.time() - span, UTC).isoformat() if span is not None else ""
        messages: list[shapes.Message] = []
        for place in places:
            self._places[place.id] = place
            messages += await hub.newest(place.id, 1000 if span is not None else NEWEST)
        mine = [m for m in messages if (m.at or "") >= start and self._agent in (None, m.sender)]
        mine.sort(key=lambda m: (m.at or "", m.conversation, m.seq))
        return mine if span is not None else mine[-NEWEST:]

    async def _places_to_read(self, hub: Hub, span: float | None) -> list[shapes.Conversation]:
        """The conversations to read, archived ones too: the newest messages are in those that changed last."""
        if self._conv:
            return [await hub.conversations.get(self._conv)]
        places = [*await hub.conversations.list(), *await hub.conversations.list(archived=True)]
        places.sort(key=lambda place: place.updated_at or "", reverse=True)
        return places if span is not None or self._agent else places[:NEWEST]

    async def _follow(self, hub: Hub, after: int) -> None:
        types = (EventType.MESSAGE_POSTED,)
        async for event in hub.events(conversation=self._conv, agent=self._agent, types=types, after=after):
            [message] = await hub.messages(event.body["conversation"], after=event.body["seq"] - 1, limit=1)
            await self._show(hub, message)

    async def _show(self, hub: Hub, message: shapes.Message) -> None:
        screen = self._session.screen
        if self._lines:
            screen.data(message.to_dict())
            return
        if message.conversation not in self._places:
            self._places[message.conversation] = await hub.conversations.get(message.conversation)
        place = self._places[message.conversation]
        sender = (
            screen.name(message.sender, marks_of(place).get(message.sender, "●"))
            if is_agent(message)
            else message.sender
        )
        screen.say(
            f"{clock_time(message.at)}  {title(place)}:{message.seq}  {sender}: {safe(message.text.rstrip())}"
        )


@leaf("turns", examples=("moot turns --conv build", "moot turns --agent arya --state owed --json"))
@click.option("--conv", metavar="ID", help="Only this conversation.")
@click.option("--agent", metavar="NAME", help="Only this agent.")
@click.option("--state", metavar="STATE", help="Only turns in this state, such as running or owed.")
def turns(session: Session, conv: str | None, agent: str | None, state: str | None) -> None:
    """List agents' turns: finished, running and waiting."""

    async def work(hub: Hub) -> tuple[list[shapes.Turn], MessageNames]:
        where = (await resolve.place(hub, conv)).id if conv else None
        agent_id = await resolve.agent(hub, agent) if agent else None
        rows = await hub.turns(conversation=where, agent=agent_id, state=state)
        if session.json:
            return rows, {}
        return rows, await addresses(hub, [id for turn in rows for id in (turn.cause, turn.message)])

    rows, message_names = with_reading(session, work)
    if session.json:
        session.screen.data([turn.to_dict() for turn in rows])
        return
    heads = ("turn", "agent", "state", "duty", "reason", "because of", "said", "error")
    with session.screen.paged():
        session.screen.table(heads, [_turn_row(turn, message_names) for turn in rows])


MessageNames = dict[str | None, str]
"""Message id → the name that people use."""


def _turn_row(turn: shapes.Turn, message_names: MessageNames) -> tuple[str, ...]:
    cause, reply = message_names[turn.cause], message_names[turn.message]
    error = "interrupted" if turn.rule == "force" and turn.error == turn.rule else turn.error or ""
    return turn.id, turn.agent, turn.state, turn.duty, turn.reason, cause, reply, error
