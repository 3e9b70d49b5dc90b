"""The texts of the overlays: why, a turn, the keys. The overlay wraps the lines.

Above: chat_room.py. Below: the hub's answers. Not here: drawing boxes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from msgspec import json
from rich.table import Table
from rich.text import Text

from moot import shapes
from moot.cli.read import inspect
from moot.cli.terminal.phrases import is_agent, message_at, reason_for, title
from moot.cli.terminal.screen import clock_time, safe
from moot.cli.tui.bubbles import Look
from moot.cli.tui.chat_state import ChatState
from moot.cli.tui.overlays import Choice
from moot.cli.tui.remark_screen import RemarkScreen
from moot.shapes.talk import DUTY_WORDS

if TYPE_CHECKING:
    from moot.hub import Hub

FIRST_LINE: Final = 60
MAX_TURNS: Final = 100
KEYS: Final = (
    ("Enter", "send"),
    ("Alt+Enter, Ctrl+J", "new line; Shift+Enter where the terminal tells it from Enter"),
    ("@ and /", "names and commands; Tab or Enter takes one, Esc closes the menu"),
    ("Up, Down", "what you sent before"),
    ("Esc", "stop who writes; twice: all of them"),
    ("Ctrl+G", "go to another conversation, unread first"),
    ("Alt+N, Alt+P", "next and previous unread; also Alt+Shift+Down and Up"),
    ("PgUp, PgDn, Ctrl+End", "scroll; to the end"),
    ("Ctrl+R", "search in this conversation"),
    (
        "F6, Shift+Tab",
        "into the messages: up and down move, r replies, w says why, t shows the turn, y copies",
    ),
    ("F2", "why: who had to answer the last message, who could, who stayed silent"),
    ("F3", "turns of this conversation, and what an agent was given"),
    ("F4", "settings of this group"),
    ("Ctrl+C", "never takes a draft away: says so first, leaves the second time"),
    ("Ctrl+D, exit, quit", "leave"),
    ("F1", "these keys; /help lists the commands"),
)


def keys_text() -> Table:
    table = Table.grid(padding=(0, 2, 0, 0))
    for key, meaning in KEYS:
        table.add_row(Text(key, style="bold"), meaning)
    return table


async def why_text(hub: Hub, state: ChatState, look: Look, number: int) -> Text:
    """What caused one message, and each agent's part in it."""
    if not number:
        return Text("nothing has been said here yet")
    why = await hub.why(f"{state.where.id}:{number}")
    message = await message_at(hub, why.message)
    text = Text()
    if message is not None:
        first = safe((message.text.splitlines() or ["(deleted)"])[0])[:FIRST_LINE]
        text.append(f"{state.where.name}:{number}  {message.sender}, {clock_time(message.at)}: {first}\n")
        if is_agent(message) and why.cause is not None:
            reason = await reason_for(hub, message)
            text.append(f"said in turn {why.cause['turn']}, {reason}\n", style="dim")
    text.append("\n")
    for row in why.agents:
        state_word = row.state if row.duty != "observes" or row.state == "cancelled" else ""
        parts = " · ".join(part for part in (DUTY_WORDS[row.duty], state_word, row.rule) if part)
        text.append(look.fit(f"{state.marks.get(row.agent, '●')} {row.agent}"), style=look.style(row.agent))
        text.append(f"  {parts}\n")
        text.append(f"    {safe(row.reason.removeprefix(f'{row.agent} '))}\n", style="dim")
    if not why.agents:
        text.append("it asks nobody, so no agent answers it\n")
    return text


async def turn_text(hub: Hub, id: str) -> Text:
    """A turn: what its agent was given, what it cost, what it answered."""
    lines: list[str] = []
    await inspect.tell(RemarkScreen(lines.append), hub, await hub.turn(id))
    return Text("\n".join(lines))


async def turn_rows(hub: Hub, where: shapes.Conversation) -> list[Choice]:
    """The newest first."""
    turns = (await hub.turns(conversation=where.id))[-MAX_TURNS:]
    return [
        Choice(
            turn.id,
            f"{turn.id}  {turn.agent}",
            "  ".join(
                part
                for part in (turn.state, turn.reason, clock_time(turn.started_at), safe(turn.error or ""))
                if part
            ),
        )
        for turn in reversed(turns)
    ]


def setting_rows(where: shapes.Conversation) -> list[Choice]:
    """The settings, each with the beginning of the command that changes it."""
    return [
        Choice(f"/group config {name} ", name, json.encode(value).decode())
        for name, value in where.settings.items()
    ]


async def place_rows(hub: Hub, state: ChatState) -> list[Choice]:
    """All conversations: unread ones first, then the newest."""
    conversations = await hub.conversations.list()
    conversations.sort(key=lambda place: place.updated_at or "", reverse=True)
    conversations.sort(key=lambda place: -min(1, state.unread.get(place.id, 0)))
    return [
        Choice(
            place.id,
            title(place),
            "  ".join(
                part
                for part in (
                    f"{state.unread[place.id]} unread" if state.unread.get(place.id) else "",
                    ", ".join(seat.name for seat in place.participants if seat.name != state.me),
                    "here" if place.id == state.where.id else "",
                )
                if part
            ),
        )
        for place in conversations
    ]


async def search_rows(hub: Hub, where: shapes.Conversation, typed: str) -> list[Choice]:
    hits = await hub.search(f"in:{where.name} {typed}", limit=20)
    return [
        Choice(str(hit.message.seq), f"#{hit.message.seq} {hit.message.sender}", safe(hit.snippet))
        for hit in hits
    ]
