"""`hub.agents`: the registry, the connections of outside agents, and tokens."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject, not_over_http
from moot.sdk.request import renamed, with_kind
from moot.shapes import Agent

Tokens: TypeAlias = list[shapes.Token]
Arrivals: TypeAlias = list[shapes.Arrival]
Started: TypeAlias = list[shapes.Spawned]
Names: TypeAlias = list[str]
AGENT = "/api/agents/{name}"
HOOKS = "hooks of a coding client run on the hub's own machine"


class AgentCalls(Subject, subject="agents"):
    @http.get("/api/agents", part="agents")
    async def list(self) -> list[Agent]:
        """List the agents and people you can write to, without removed ones."""

    @http.get(AGENT)
    async def get(self, name: str) -> Agent:
        """Get an agent or person by current or former name."""

    @not_over_http("a pid and a socket are of no use on another machine")
    async def where(self, name: str) -> dict[str, Any]:
        """Get the pid and socket of the process that hosts an agent; empty if there is none."""

    @http.post("/api/agents", shaped=with_kind)
    async def create(
        self, name: str, *, role: str = "", display: str = "", external: bool = False, human: bool = False
    ) -> Agent:
        """Register an agent hosted by a program, an outside agent or a person."""

    @http.get("/api/spawned", part="spawned")
    async def tree(self) -> Started:
        """List the agents that were started from templates and by whom, those that retired in the last day too."""

    @not_over_http("a refused spawn names them")
    async def templates(self) -> Names:
        """List the templates that you may start agents from."""

    @http.put(AGENT, shaped=renamed(new_name="name"))
    async def rename(self, name: str, new_name: str) -> Agent:
        """Rename it; the old name stays an alias."""

    @http.put(AGENT, repeats=True)
    async def change(
        self, name: str, *, role: str | None = None, display: str | None = None, project: str | None = None
    ) -> Agent:
        """Change an agent's description. If it is in moot.toml, the next start restores what the file says."""

    @http.post(f"{AGENT}/interrupt")
    async def interrupt(self, name: str) -> None:
        """Stop all its running turns."""

    @http.post(f"{AGENT}/pause", repeats=True)
    async def pause(self, name: str) -> Agent:
        """Pause it: it gets no turns until it is resumed."""

    @http.post(f"{AGENT}/resume", repeats=True)
    async def resume(self, name: str) -> Agent:
        """Resume it: it gets turns again."""

    @http.delete(AGENT, repeats=True)
    async def remove(self, name: str) -> Agent:
        """Remove an agent: it is no longer listed, nothing waits for it, its tokens stop working. Its messages stay.

        An agent created later under the same name continues where it left off.
        """

    # --- outside agents: somebody else's processes -------------------------------------------------------

    @not_over_http("this is for doors on the hub's machine; over HTTP the owner registers an agent")
    async def arrive(self, door: str, **whence: Any) -> Agent:
        """Register a connecting agent by `name`, or by `client` and `folder`; it is created if unknown."""

    @not_over_http("coding clients connect on the hub's own machine")
    async def arrivals(self, client: str | None = None, folder: str | None = None) -> Arrivals:
        """List agents that connected, optionally of one client or from one folder, oldest first."""

    @not_over_http("over HTTP an open request counts as the sign of life")
    async def seen(self, name: str, *, door: str, reach: str = "on-demand") -> None:
        """Record a sign of life from an outside agent; `reach` is `next-turn` if its hooks deliver messages."""

    @not_over_http(HOOKS)
    async def hooked(self, name: str, event: str, *, again: bool = False, limit: int = 20) -> shapes.Hooked:
        """Get what a hook of an agent's client should deliver at this event of its session.

        It is repeated until the hook has confirmed it (`hook_said`) and the turn has ended; then it counts as read.
        """

    @not_over_http(HOOKS)
    async def hook_said(self, name: str, *, handed: Sequence[str] = ()) -> None:
        """Confirm that a hook has written what it should deliver, including these turns, to its client."""

    # --- tokens ------------------------------------------------------------------------------------------

    @http.get(f"{AGENT}/tokens", part="tokens")
    async def tokens(self, name: str) -> Tokens:
        """List its tokens, including revoked ones, without their secrets."""

    @http.post(f"{AGENT}/tokens")
    async def issue_token(self, name: str, *, scopes: Sequence[str] = ("read", "post")) -> shapes.IssuedToken:
        """Issue a token. It is shown only once."""

    @http.delete(f"{AGENT}/tokens/{{id}}")
    async def revoke_token(self, name: str, id: str) -> shapes.Token:
        """Revoke a token and all tokens issued with it."""

    @http.post(f"{AGENT}/sign-in-codes")
    async def sign_in_code(self, name: str, *, seconds: float = 60.0) -> shapes.SignInCode:
        """Make a code with which a person can sign in to the page, once and within this time. Owner only."""
