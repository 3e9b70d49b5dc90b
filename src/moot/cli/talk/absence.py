"""Notices about messages for absent agents: that they wait, since when, and what would bring the agent back."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

from moot.cli.frame.hub_access import can_run

if TYPE_CHECKING:
    from moot import shapes
    from moot.hub import Hub

WAKEABLE: Final = ("claude", "codex")
"""Clients whose hooks Moot knows."""
UNITS: Final = (("d", 86_400), ("h", 3_600), ("min", 60))


async def to_bring_back(hub: Hub, agents: Sequence[shapes.Agent]) -> str:
    """The command that brings absent agents back; empty if none does.

    Moot starts the agents of moot.toml. A coding CLI is woken by its hooks; other programs are not Moot's to start.
    """
    rows = {row.name for row in hub.settings.agents if can_run(row)}
    here = [agent.name for agent in agents if not rows.isdisjoint((agent.name, *agent.aliases))]
    if here:
        return f"moot agent start {' '.join(here)}"
    outside = {agent.name for agent in agents if agent.kind == "external"}
    clients_seen = (
        {each.client for each in await hub.agents.arrivals() if each.name in outside} if outside else set()
    )
    clients = [client for client in WAKEABLE if client in clients_seen]
    return f"moot mcp install --wake {' '.join(clients)}" if clients else ""


async def sleeping_notices(hub: Hub, why: shapes.Why) -> list[str]:
    """Lines for each agent that came by a client and cannot be woken now (E502)."""
    owed = {row.agent for row in why.agents if row.state == "owed"}
    client_of = (
        {each.name: each.client for each in await hub.agents.arrivals() if each.name in owed} if owed else {}
    )
    lines: list[str] = []
    for name, client in client_of.items():
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
        return "cannot be woken: it reads messages on demand"
    return f"is away (last seen {_ago(agent.last_active)})"


def _ago(at: str | None) -> str:
    if at is None:
        return "never"
    seconds = (datetime.now(UTC) - datetime.fromisoformat(at)).total_seconds()
    for unit, size in UNITS:
        if seconds >= size:
            return f"{seconds // size:.0f} {unit} ago"
    return "just now"
