"""`Hub.connect`: a hub anywhere, over HTTP; and functions of this process as agents of it."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from moot.brains.code import AgentSpec, refuse_undecorated
from moot.client.hub import RemoteHub
from moot.client.transport.http import Web
from moot.client.transport.line import Voice
from moot.client.worker import Outside
from moot.errors import BadValue, NotFound, NotPermitted, Unauthenticated
from moot.sdk.request import HttpCall

TOKEN = "MOOT_TOKEN"
STATUS = HttpCall("GET", "/api/status")
"""Says who one is."""


@asynccontextmanager
async def connect(
    url: str, *, token: str | None = None, agents: Sequence[AgentSpec] = (), without_tls: bool = False
) -> AsyncIterator[RemoteHub]:
    """While the block lasts, a hub elsewhere; the given agents are served until it is left."""
    refuse_undecorated(agents)
    place, nearby = checked(url, without_tls=without_tls)
    line = Web(place, _token(token), nearby=nearby)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(line.close)
        told: dict[str, Any] = await line.ask(STATUS, dict[str, Any], Voice())
        line.name = told["self"]
        hub = RemoteHub(line, told["self"], told["position"])
        for spec in agents:
            voice = await stack.enter_async_context(_voice_of(spec, hub, line, owner=told["user"]))
            await stack.enter_async_context(Outside(voice, spec).served())
        yield hub


def checked(url: str, *, without_tls: bool) -> tuple[str, bool]:
    """The address of a hub, and whether it is this machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        raise BadValue(
            f'"{url}" is no address of a hub',
            detail="it looks like http://127.0.0.1:8420 or https://moot.example.org",
            fix=("the hub prints it when it starts; run/hub.json of the home has it",),
        )
    nearby = _is_loopback(parts.hostname)
    if parts.scheme == "http" and not nearby and not without_tls:
        raise BadValue(
            f"the token would travel to {parts.hostname} in the open",
            fix=("use https", "without_tls=True, where the network is yours alone"),
        )
    return url.rstrip("/"), nearby


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _token(given: str | None) -> str:
    found = given or os.environ.get(TOKEN, "")
    if not found:
        raise Unauthenticated(
            "no token was given to connect with",
            detail=f"neither token= nor {TOKEN} has one",
            fix=(
                "the owner's token is in run/token of the home",
                "an agent's own comes from POST /api/agents/NAME/tokens, or hub.agents.issue_token",
            ),
        )
    return found.strip()


@asynccontextmanager
async def _voice_of(spec: AgentSpec, hub: RemoteHub, line: Web, *, owner: str) -> AsyncIterator[RemoteHub]:
    """A hub that speaks as an agent: with its own token, or, for the owner, with one issued for this while."""
    who = await _enrolled(spec, hub, may_enrol=hub.name == owner)
    if who == hub.name:
        yield hub
        return
    issued = await hub.agents.issue_token(who)
    own = line.with_token(issued.token, who)
    try:
        yield RemoteHub(own, who, hub.position)
    finally:
        await own.close()
        await hub.agents.revoke_token(who, issued.id)


async def _enrolled(spec: AgentSpec, hub: RemoteHub, *, may_enrol: bool) -> str:
    """Its name at the hub, which knows it as an outside agent from now on."""
    if not may_enrol and spec.name != hub.name:
        raise NotPermitted(
            f"with this token only {hub.name} can be served, not {spec.name}",
            fix=(f"connect with a token of {spec.name}", "connect with the owner's token"),
        )
    try:
        known = await hub.agents.get(spec.name)
    except NotFound:
        known = await hub.agents.create(spec.name, role=spec.role, display=spec.display, external=True)
    if known.kind != "external":
        raise NotPermitted(
            f"{known.name} is run by the hub itself, and cannot be served from elsewhere",
            fix=("give the function another name", 'set brain = "external" in its row of moot.toml'),
        )
    if spec.role and spec.role != known.role:
        await hub.agents.change(known.name, role=spec.role)
    return known.name
