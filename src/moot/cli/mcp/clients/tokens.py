"""For clients that connect over HTTP: the hub's address, and a token that identifies them."""

from contextlib import suppress

from moot import shapes
from moot.cli.frame.hub_access import with_hub
from moot.cli.frame.session import Session
from moot.errors import BadValue, NotFound
from moot.hub import Hub
from moot.hub.process.hub_lock import running_hub
from moot.settings import Home, load


def address(home: Home) -> str:
    """The address at which the running hub answers MCP, or will when it runs."""
    running = running_hub(home) or {}
    url = str(running.get("url") or "")
    if not url.startswith("http"):
        settings = load(home).hub
        if not settings.port:
            raise BadValue(
                "there is no address to register: no hub is running, and hub.port = 0 picks any free port",
                fix=("moot config set hub.port 8420", "moot up --detach"),
            )
        url = f"http://{settings.host}:{settings.port}"
    return f"{url.rstrip('/')}/mcp/"


def issue(session: Session, agent: str) -> shapes.IssuedToken:
    """A token for an agent; an unknown agent is created, as an outside one."""

    async def work(hub: Hub) -> shapes.IssuedToken:
        try:
            await hub.agents.get(agent)
        except NotFound:
            await hub.agents.create(agent, external=True)
        return await hub.agents.issue_token(agent)

    return with_hub(session, work)


def revoke(session: Session, agent: str, id: str) -> None:
    async def work(hub: Hub) -> None:
        with suppress(NotFound):  # it went with its agent
            await hub.agents.revoke_token(agent, id)

    with_hub(session, work)
