"""The state of each client: installed, registered, woken by hooks, last seen."""

from collections.abc import Sequence
from pathlib import Path

from msgspec import Struct, structs

from moot.cli.mcp.clients import files
from moot.cli.mcp.clients.documents import holds, read
from moot.cli.mcp.clients.files import Unreadable
from moot.cli.mcp.clients.known import Client, Scope, UserEnvironment
from moot.cli.mcp.clients.ledger import Ledger
from moot.cli.mcp.hooks.events import hook_edits
from moot.model.json import JsonObject
from moot.settings.home import Home
from moot.shapes import Agent

SCOPES: tuple[Scope, ...] = ("user", "project")
NEAREST = ("live", "next-turn", "on-demand", "away")


class Registered(Struct, frozen=True):
    """Where a client has Moot, and who put it there."""

    scope: Scope
    path: str
    by: str
    """`moot` or `hand`."""


class ClientState(Struct, frozen=True):
    client: str
    found: str | None
    registered: tuple[Registered, ...]
    wake: bool
    trouble: str
    agents: tuple[str, ...]
    """Agents that came by this client, the last one first."""
    seen: str | None
    reachability: str | None

    def to_dict(self) -> JsonObject:
        return {
            **structs.asdict(self),
            "registered": [structs.asdict(each) for each in self.registered],
            "agents": list(self.agents),
        }


def client_state(client: Client, home: Home, place: UserEnvironment, agents: Sequence[Agent]) -> ClientState:
    """`agents` are those that came by this client."""
    ledger = Ledger(home)
    registered: list[Registered] = []
    wake, trouble = False, ""
    for scope in SCOPES:
        folder = str(place.folder) if scope == "project" else ""
        change = ledger.find(client.name, scope, folder)
        path, hooks = client.config(scope, place), client.hooks(scope, place)
        try:
            if client.knows(read(path, files.content(path))) is not None:
                ours = change is not None and change.file(path) is not None
                registered.append(Registered(scope, str(path), "moot" if ours else "hand"))
            wake = wake or _has_hooks(client, hooks, home)
        except (Unreadable, OSError) as error:
            trouble = str(error)
    recent = sorted(agents, key=lambda agent: agent.last_active or "", reverse=True)
    reach = min((agent.reachability for agent in recent), key=NEAREST.index, default=None)
    return ClientState(
        client=client.name,
        found=client.found(place),
        registered=tuple(registered),
        wake=wake,
        trouble=trouble,
        agents=tuple(agent.name for agent in recent),
        seen=recent[0].last_active if recent else None,
        reachability=reach,
    )


def _has_hooks(client: Client, path: Path | None, home: Home) -> bool:
    if path is None:
        return False
    document = read(path, files.content(path))
    return any(
        all(holds(document, edit) for edit in hook_edits(client, home, agent)) for agent in ("", client.name)
    )
