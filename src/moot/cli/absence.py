"""What to say of a message for a coding CLI that nobody wakes: it waits, since when, and what would wake it."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from moot import shapes
    from moot.hub import Hub

WAKEABLE: Final = ("claude", "codex")
"""Clients whose hooks Moot knows."""
UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


async def unwoken(hub: Hub, why: shapes.Why) -> list[str]:
    """A line or two for each agent that came by a client and cannot be woken now (E502)."""
    owed = {row.agent for row in why.agents if row.state == "owed"}
    came = (
        {each.name: each.client for each in await hub.agents.arrivals() if each.name in owed} if owed else {}
    )
    lines: list[str] = []
    for name, client in came.items():
        agent = await hub.agents.get(name)
        if agent.reachability not in ("away", "on-demand"):
            continue
        waiting = len(await hub.inbox(agent=name, unread=True))
        many = "One message waits" if waiting == 1 else f"{waiting} messages wait"
        lines.append(f"queued[E502] {name} {_where(agent)}. {many} for it.")
        if client in WAKEABLE:
            lines.append(f"  fix   moot mcp install --wake {client}")
    return lines


def _where(agent: shapes.Agent) -> str:
    if agent.reachability == "on-demand":
        return "is not woken: it reads when it asks"
    return f"is away (last seen {_ago(agent.last_active)})"


def _ago(at: str | None) -> str:
    if at is None:
        return "never"
    seconds = (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"
