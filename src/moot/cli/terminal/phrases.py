"""The words in which messages, reasons and rounds are told, the same in every command."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from moot import shapes
from moot.cli.terminal.screen import Screen, clock_time, safe
from moot.model.json import JsonObject
from moot.model.records.link import LinkOrigin

if TYPE_CHECKING:
    from moot.hub import Hub

REASONS = {
    "mention": "mentioned by {sender}",
    "force": "asked by {sender}",
    "direct": "answering {sender}",
    "poll": "of its own accord",
    "react": "reacting to the others",
    "round_robin": "next in the rotation",
    "task": "working on a task",
    "ask": "asked by {sender}",
}
ENDS = {
    "cap": "all turns for this message are used",
    "depth": "the maximum depth was reached",
    "chain": "the chain reached its limit, /continue resumes it",
    "no_progress": "no progress, /continue resumes it",
    "budget": "an agent has used its turns for this hour",
    "paused": "an agent is paused",
}


SET_BY = {"config": "in moot.toml", "api": "by hand", "spawn": "by the agent that started the other"}


def where_set(link: shapes.Link) -> str:
    """Where a link was set: in a line of moot.toml, or by hand."""
    place = f"in {link.place}" if link.place else SET_BY.get(link.origin, link.origin)
    return f"{place}, overridden until it is read again" if link.origin == LinkOrigin.OVERRIDDEN else place


def marks_of(conversation: shapes.Conversation) -> dict[str, str]:
    return {seat.name: seat.mark for seat in conversation.participants}


def agents_in(conversation: shapes.Conversation) -> list[shapes.Seat]:
    return [seat for seat in conversation.participants if seat.kind in ("agent", "external")]


def is_agent(message: shapes.Message) -> bool:
    return message.kind in ("agent", "external")


def title(conversation: shapes.Conversation) -> str:
    return f"#{conversation.name}" if conversation.kind == "group" else conversation.name


def address(conversation: shapes.Conversation, seq: int) -> str:
    """A message as people call it; a command takes it as it takes the id."""
    return f"{conversation.name}:{seq}"


async def addresses(hub: Hub, ids: Iterable[str | None]) -> dict[str | None, str]:
    """Ids of messages as people call them; nothing for none."""
    by_id: dict[str | None, str] = {None: ""}
    names: dict[str, str] = {}
    for id in filter(None, ids):
        place, _, seq = id.rpartition(":")
        if place not in names:
            names[place] = (await hub.conversations.get(place)).name
        by_id[id] = f"{names[place]}:{seq}"
    return by_id


def author(message: shapes.Message, hub: Hub) -> str:
    """The author of a message. Somebody who speaks as an agent (`--as`) is not that agent."""
    return "you" if message.sender == hub.name and not is_agent(message) else message.sender


def chip(message: shapes.Message) -> str:
    """What made a text, if that must be visible: demo text must not pass for a model's, nor a file's for a person's."""
    if "imported" in message.metadata:
        return "imported"
    return "demo" if str(message.metadata.get("brain", "")).startswith("demo") else ""


async def message_at(hub: Hub, address: str) -> shapes.Message | None:
    conversation, _, seq = address.rpartition(":")
    messages = await hub.messages(conversation, after=int(seq) - 1, limit=1)
    return messages[0] if messages and messages[0].id == address else None


async def reason_for(hub: Hub, message: shapes.Message) -> str:
    """Why an agent said this: the rule, and who set it off."""
    cause = (await hub.why(message.id)).cause
    if cause is None:
        return ""
    turn = await hub.turn(cause["turn"], given=False)
    return await reason_of(hub, turn.reason, turn.cause)


async def reason_of(hub: Hub, rule: str, cause: str | None) -> str:
    before = await message_at(hub, cause) if cause else None
    return REASONS.get(rule, rule).format(sender=author(before, hub) if before else "somebody")


def line(screen: Screen, hub: Hub, message: shapes.Message, marks: dict[str, str], reason: str = "") -> str:
    """A message in plain mode: who, when, why, then the text, once and complete."""
    if message.kind == "system":
        return f"notice: {safe(message.text).strip('[]')}"
    if message.kind == "tool":
        tool_words = f"{message.metadata.get('tool')} for {message.metadata.get('for')}"
        return f"tool {safe(tool_words)}, {clock_time(message.at)}:\n{safe(message.text)}"
    name = author(message, hub)
    speaker = screen.name(name, marks.get(name, "●")) if is_agent(message) else name
    details = [part for part in (chip(message), clock_time(message.at), reason) if part]
    return f"{speaker}, {', '.join(details)}:\n{safe(message.text)}{cut(message)}"


def cut(message: shapes.Message) -> str:
    """The mark behind an answer that was stopped in the middle."""
    return " … (stopped here)" if message.metadata.get("partial") else ""


def round_line(opening: shapes.Why, last: shapes.Why, replies: int, cap: int) -> str:
    """How a round ended: who was silent, how many turns were used, and why it went no further."""
    silent_agents = [row.agent for row in opening.agents if row.state == "passed"]
    silent = f"{', '.join(silent_agents)} passed · " if silent_agents else ""
    return f"{silent}{round_end(opening, last, replies, cap)}"


def round_end(opening: shapes.Why, last: shapes.Why, replies: int, cap: int) -> str:
    """The same without who was silent, where that was told already."""
    blocked = [row.rule for row in (*last.agents, *opening.agents) if row.duty == "blocked"]
    ending = next((ENDS[rule] for rule in blocked if rule in ENDS), "")
    away = [row.agent for row in opening.agents if row.rule == "away"]
    if away and not replies and not ending:
        ending = f"{', '.join(away)} {'is' if len(away) == 1 else 'are'} away"
    return f"turns {replies} of {cap} · ended: {ending or 'nobody else was asked'}"


def budget_line(budget: JsonObject) -> str:
    """What was spent today of a budget, in money and in tokens as far as these are limited."""
    spent = []
    if budget["budget_usd"]:
        spent.append(f"${budget['cost_usd']:.2f} of ${budget['budget_usd']:.2f}")
    if budget["budget_tokens"]:
        spent.append(f"{budget['tokens']:,} of {budget['budget_tokens']:,} tokens")
    unknown = f", the price of {budget['unpriced']} turns is not known" if budget["unpriced"] else ""
    over = " (used up: the next turn waits for tomorrow)" if budget["is_used_up"] else ""
    return f"{budget['agent'] or 'all agents'}: {', '.join(spent)} today{unknown}{over}"
