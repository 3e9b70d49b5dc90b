"""What `moot doctor` says of coding CLIs: whether the server starts in time, and the state of each client."""

import asyncio
import json
import os
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Final

from moot.cli.frame.hints import first
from moot.cli.mcp.clients import files
from moot.cli.mcp.clients.documents import read
from moot.cli.mcp.clients.known import CLIENTS, Client, UserEnvironment
from moot.cli.mcp.clients.ledger import Ledger
from moot.cli.mcp.clients.probe import MAX_START_SECONDS, seconds_to_start
from moot.cli.mcp.clients.state import SCOPES, ClientState, client_state
from moot.cli.run.doctor_line import BAD, OK, WARN, DoctorLine
from moot.cli.run.welcome import tilde_path
from moot.errors import MootError
from moot.hub import Hub
from moot.settings import Home
from moot.shapes import Agent

UNSEEN: Final = timedelta(days=3)
TROUBLES: Final = 1 << 16


async def coding_clients(home: Home) -> list[DoctorLine]:
    """All clients that are installed or have our entry; and the server, started the way they start it."""
    try:
        states = await _client_states(home, list(CLIENTS.values()))
    except MootError as trouble:
        return [_unreadable(trouble)]
    took = await asyncio.to_thread(seconds_to_start)
    checks = [_start(states, took)]
    for client, each in states:
        if each.found or each.registered:
            checks += _client(client, each)
    return [*checks, *_hooks(home)]


async def connected_clients(home: Home) -> list[DoctorLine]:
    """The clients that Moot connected, without starting anything."""
    try:
        changed_clients = {change.client for change in Ledger(home).changes}
        states = await _client_states(
            home, [client for client in CLIENTS.values() if client.name in changed_clients]
        )
    except MootError as trouble:
        return [_unreadable(trouble)]
    return [check for client, each in states for check in _client(client, each)]


def _unreadable(trouble: MootError) -> DoctorLine:
    return DoctorLine("mcp", BAD, trouble.title, first(trouble.fix))


async def _client_states(home: Home, clients: list[Client]) -> list[tuple[Client, ClientState]]:
    place, agents = UserEnvironment.here(), await _agents_by_client(home, clients) if clients else {}
    return [(client, client_state(client, home, place, agents.get(client.name, []))) for client in clients]


async def _agents_by_client(home: Home, clients: list[Client]) -> dict[str, list[Agent]]:
    """The agents of each client; empty if the database cannot be read, which another check reports."""
    try:
        async with Hub.reading(home.path) as hub:
            agents = {agent.name: agent for agent in await hub.agents.list()}
            arrivals_by_client = {client.name: await hub.agents.arrivals(client.name) for client in clients}
    except MootError:
        return {}
    return {name: [agents[each.name] for each in arrivals] for name, arrivals in arrivals_by_client.items()}


def _start(states: list[tuple[Client, ClientState]], took: float | None) -> DoctorLine:
    if took is None:
        fix = "run moot --debug mcp and type a line: the error is printed on the terminal"
        return DoctorLine("mcp", BAD, f"moot mcp did not answer within {MAX_START_SECONDS:.0f} s", fix)
    slow = [c for c, each in states if each.registered and took > (c.patience or MAX_START_SECONDS)]
    if slow:
        patience = f"{slow[0].title} gives up after {slow[0].patience:.0f} s"
        return DoctorLine("mcp", BAD, f"moot mcp takes {took:.1f} s to start; {patience}", "moot up --detach")
    return DoctorLine("mcp", OK, f"moot mcp starts in {took:.1f} s")


def _client(client: Client, each: ClientState) -> Iterator[DoctorLine]:
    if each.trouble:
        yield DoctorLine(client.name, BAD, each.trouble, f"moot mcp config --client {client.name}")
    elif not each.registered:
        yield DoctorLine(client.name, OK, f"installed, not connected: moot mcp install {client.name}")
    elif each.found is None:
        yield DoctorLine(
            client.name, WARN, "connected, but no longer on PATH", f"moot mcp uninstall {client.name}"
        )
    else:
        yield _connected(client, each)


def _connected(client: Client, each: ClientState) -> DoctorLine:
    again = f"moot mcp install {client.name}"
    for program in _programs(client):
        if not os.access(program, os.X_OK):
            return DoctorLine(client.name, BAD, f"it starts {program}, which does not exist", again)
    how = "woken by hooks" if each.wake else "reads messages on demand"
    if each.seen is None:
        return DoctorLine(
            client.name, WARN, f"connected, {how}; no session seen yet", f"moot mcp status {client.name}"
        )
    since = datetime.now(UTC) - datetime.fromisoformat(each.seen)
    if since > UNSEEN:
        text = f"connected, {how}, but no session seen for {since.days} days"
        return DoctorLine(client.name, WARN, text, f"moot mcp status {client.name}")
    return DoctorLine(client.name, OK, f"connected, {how}")


def _programs(client: Client) -> Iterator[str]:
    """The programs that the client starts as Moot, wherever it is registered."""
    for scope in SCOPES:
        path = client.config(scope, UserEnvironment.here())
        entry: object = client.knows(read(path, files.content(path)))
        if isinstance(entry, dict) and isinstance(entry.get("command"), str):
            command = Path(entry["command"])
            if command.is_absolute():
                yield str(command)


def _hooks(home: Home) -> Iterator[DoctorLine]:
    """The newest error in the log of hooks, which say nothing in the sessions they run in."""
    path = home.logs / "hooks.log"
    lines = (files.content(path) or b"")[-TROUBLES:].splitlines()
    if lines:
        try:
            last = str(json.loads(lines[-1])["error"])
        except (ValueError, KeyError, TypeError):
            last = lines[-1].decode(errors="replace")
        yield DoctorLine("hooks", WARN, f"errors in {tilde_path(path)}; the newest: {last}", f"rm {path}")
