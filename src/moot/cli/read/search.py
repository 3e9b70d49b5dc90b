"""`moot search`: messages grouped by conversation, with the words of the query highlighted."""

from __future__ import annotations

import re
from datetime import datetime
from itertools import groupby
from typing import TYPE_CHECKING
from unicodedata import combining, normalize

import click

from moot import shapes
from moot.cli.frame.hub_access import with_reading
from moot.cli.frame.params import AT_LEAST_0, AT_LEAST_1, leaf
from moot.cli.frame.session import Session
from moot.cli.terminal.phrases import is_agent, marks_of, title
from moot.cli.terminal.screen import Screen, safe
from moot.model.json import JsonObject
from moot.rules.words.search import parse

if TYPE_CHECKING:
    from moot.hub import Hub

_WORD = re.compile(r"\w+")
MAX_LINE_CHARACTERS = 200
"""Of a message in the list."""


@leaf(
    "search",
    examples=(
        'moot search "from:arya after:2d streaming"',
        "moot search 'in:build has:link \"exact phrase\"' --context 2",
    ),
)
@click.argument("query")
@click.option(
    "--limit", type=AT_LEAST_1, default=20, metavar="N", help="Maximum number of results (default 20)."
)
@click.option(
    "--context",
    type=AT_LEAST_0,
    default=0,
    metavar="N",
    help="Messages to show around each result (default 0).",
)
def search(session: Session, query: str, limit: int, context: int) -> None:
    """Search messages by text, sender, conversation and time.

    QUERY combines words, "phrases in quotes", and from: to: in: kind: before: after: has: is:
    """

    async def work(hub: Hub) -> None:
        hits = await hub.search(query, limit=limit)
        if session.json:
            session.screen.data([await _hit_to_dict(hub, hit, context) for hit in hits])
            return
        with session.screen.paged():
            await GroupedHits(session.screen, hub, query).show(hits, context)
        if not hits:
            narrowest = await hub.inspector.narrowest(query)
            session.screen.note(narrowest.sentence() if narrowest else "nothing found")

    with_reading(session, work)


async def _around(hub: Hub, message: shapes.Message, context: int) -> tuple[list[shapes.Message], ...]:
    """The messages right before and right after a message."""
    where, seq = message.conversation, message.seq
    before = await hub.messages(where, after=max(seq - 1 - context, 0), limit=min(context, seq - 1))
    return before, await hub.messages(where, after=seq, limit=context)


async def _hit_to_dict(hub: Hub, hit: shapes.Hit, context: int) -> JsonObject:
    result = hit.to_dict()
    if context:
        before, after = await _around(hub, hit.message, context)
        result["before"] = [message.to_dict() for message in before]
        result["after"] = [message.to_dict() for message in after]
    return result


class GroupedHits:
    """Hits under their conversation; the conversation of the newest hit first."""

    def __init__(self, screen: Screen, hub: Hub, query: str) -> None:
        self._screen = screen
        self._hub = hub
        terms = parse(query, 0.0).terms
        self._query_words = {_fold(word) for term in terms for word in _WORD.findall(term)}

    async def show(self, hits: list[shapes.Hit], context: int) -> None:
        order = {where: n for n, where in enumerate(dict.fromkeys(hit.message.conversation for hit in hits))}
        ranked = sorted(hits, key=lambda hit: order[hit.message.conversation])
        for n, (where, group) in enumerate(groupby(ranked, key=lambda hit: hit.message.conversation)):
            here = list(group)
            place = await self._hub.conversations.get(where)
            count = "1 hit" if len(here) == 1 else f"{len(here)} hits"
            self._screen.say(("\n" if n else "") + f"{title(place)}  {count}")
            for hit in here:
                await self._show(hit, marks_of(place), context)

    async def _show(self, hit: shapes.Hit, marks: dict[str, str], context: int) -> None:
        before, after = await _around(self._hub, hit.message, context) if context else ([], [])
        for message in before:
            self._line(message, message.text, marks, "    ")
        self._line(hit.message, hit.snippet, marks, "  " if not context else "  ▸ ")
        for message in after:
            self._line(message, message.text, marks, "    ")

    def _line(self, message: shapes.Message, text: str, marks: dict[str, str], lead: str) -> None:
        sender = message.sender
        if is_agent(message):
            sender = self._screen.name(sender, marks.get(sender, "●"))
        one_line = " ".join(safe(text).split())
        short = one_line if len(one_line) <= MAX_LINE_CHARACTERS else one_line[:MAX_LINE_CHARACTERS] + "…"
        self._screen.say(f"{lead}{_moment(message.at)}  :{message.seq}  {sender}: {self._highlight(short)}")

    def _highlight(self, text: str) -> str:
        """Highlight the words of the query, on a terminal."""
        if not self._screen.colour or not self._query_words:
            return text
        return _WORD.sub(
            lambda match: self._screen.strong(match[0]) if _fold(match[0]) in self._query_words else match[0],
            text,
        )


def _fold(word: str) -> str:
    """A word as the index compares it: without case and accents."""
    return "".join(letter for letter in normalize("NFD", word.lower()) if not combining(letter))


def _moment(at: str | None) -> str:
    return datetime.fromisoformat(at).astimezone().strftime("%Y-%m-%d %H:%M") if at else "-"
