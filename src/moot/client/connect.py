"""`Hub.connect`: a hub anywhere, over HTTP; and functions of this process as agents of it."""

import os
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from ipaddress import ip_address
from typing import Any
from urllib.parse import urlsplit

from moot.brains.code import AgentSpec, refuse_undecorated
from moot.client.hub import RemoteHub
from moot.client.transport.http import HttpTransport
from moot.client.transport.socket_transport import Voice
from moot.client.worker import Outside
from moot.errors import BadValue, NotFound, NotPermitted, Unauthenticated
from moot.model.hint import Act, Hint
from moot.sdk.request import HttpCall

TOKEN = "MOOT_TOKEN"
STATUS = HttpCall("GET", "/api/status")
"""Names the caller."""


@asynccontextmanager
async def connect(
    url: str, *, token: str | None = None, agents: Sequence[AgentSpec] = (), without_tls: bool = False
) -> AsyncIterator[RemoteHub]:
    """While the block lasts, a hub elsewhere; the given agents are served until it is left."""
    refuse_undecorated(agents)
    for spec in agents:
        if spec.watch is not None:
            raise BadValue(
                f"{spec.name} is a supervisor, which has to run beside the store",
                fix=(f"give {spec.name} to Hub.open", "set watches for it in moot.toml"),
            )
    place, nearby = parse_address(url, without_tls=without_tls)
    transport = HttpTransport(place, _token(token), nearby=nearby)
    async with AsyncExitStack() as stack:
        stack.push_async_callback(transport.close)
        status: dict[str, Any] = await transport.ask(STATUS, dict[str, Any], Voice())
        transport.name = status["self"]
        hub = RemoteHub(transport, status["self"], status["position"])
        for spec in agents:
            voice = await stack.enter_async_context(_voice_of(spec, hub, transport, owner=status["user"]))
            await stack.enter_async_context(Outside(voice, spec).serve())
        yield hub


def parse_address(url: str, *, without_tls: bool) -> tuple[str, bool]:
    """The address of a hub, and whether it is this machine."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.query or parts.username:
        raise BadValue(
            f'"{url}" is not the address of a hub',
            detail="expected for example http://127.0.0.1:8420 or https://moot.example.org",
            fix=("the hub prints its address when it starts; it is also in run/hub.json of the home",),
        )
    nearby = _is_loopback(parts.hostname)
    if parts.scheme == "http" and not nearby and not without_tls:
        raise BadValue(
            f"the token would be sent to {parts.hostname} unencrypted",
            fix=("use https", "without_tls=True, if nobody else can listen on the network"),
        )
    return url.rstrip("/"), nearby


def _is_loopback(host: str) -> bool:
    if host.lower() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _token(token: str | None) -> str:
    chosen = token or os.environ.get(TOKEN, "")
    if not chosen:
        raise Unauthenticated(
            "no token to connect with",
            detail=f"neither token= nor the environment variable {TOKEN} is set",
            fix=(
                f"for the owner: {TOKEN}=$(cat ~/.moot/run/token), the file run/token of the home",
                Hint(Act.NEW_TOKEN, agent="NAME"),
                "in Python: hub.agents.issue_token",
            ),
        )
    return chosen.strip()


@asynccontextmanager
async def _voice_of(
    spec: AgentSpec, hub: RemoteHub, transport: HttpTransport, *, owner: str
) -> AsyncIterator[RemoteHub]:
    """A hub that speaks as an agent: with its own token, or, for the owner, with one issued for this while."""
    agent = await _enrol(spec, hub, may_enrol=hub.name == owner)
    if agent == hub.name:
        yield hub
        return
    issued = await hub.agents.issue_token(agent)
    own = transport.with_token(issued.token, agent)
    try:
        yield RemoteHub(own, agent, hub.position)
    finally:
        await own.close()
        await hub.agents.revoke_token(agent, issued.id)


async def _enrol(spec: AgentSpec, hub: RemoteHub, *, may_enrol: bool) -> str:
    """Its name at the hub, which knows it as an outside agent from now on."""
    if not may_enrol and spec.name != hub.name:
        raise NotPermitted(
            f"this token can only serve {hub.name}, not {spec.name}",
            fix=(f"connect with a token of {spec.name}", "connect with the owner's token"),
        )
    try:
        agent = await hub.agents.get(spec.name)
    except NotFound:
        agent = await hub.agents.create(spec.name, role=spec.role, display=spec.display, external=True)
    if agent.kind != "external":
        raise NotPermitted(
            f"the hub itself runs {agent.name}, so it cannot be served from elsewhere",
            fix=("give the function another name", 'set brain = "external" for it in moot.toml'),
        )
    if spec.role and spec.role != agent.role:
        await hub.agents.change(agent.name, role=spec.role)
    return agent.name
