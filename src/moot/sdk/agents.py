"""`hub.agents`: the registry, the doors of outside agents, and tokens."""

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
AGENT = "/api/agents/{name}"
HOOKS = "hooks of a coding client run on the hub's own machine"


class AgentCalls(Subject, subject="agents"):
    @http.get("/api/agents", part="agents")
    async def list(self) -> list[Agent]:
        """Those one can write to; who was removed is not among them."""

    @http.get(AGENT)
    async def get(self, name: str) -> Agent:
        """One agent or person, by its name or one it had before."""

    @not_over_http("a process and a socket mean nothing on another machine")
    async def where(self, name: str) -> dict[str, Any]:
        """The process that hosts an agent now: its pid and socket; empty where none does."""

    @http.post("/api/agents", shaped=with_kind)
    async def create(
        self, name: str, *, role: str = "", display: str = "", external: bool = False, human: bool = False
    ) -> Agent:
        """Somebody new: an agent that a program hosts, an outside one, or a person."""

    @http.put(AGENT, shaped=renamed(new_name="name"))
    async def rename(self, name: str, new_name: str) -> Agent:
        """Give it another name; the old one still finds it."""

    @http.put(AGENT, repeats=True)
    async def change(
        self, name: str, *, role: str | None = None, display: str | None = None, project: str | None = None
    ) -> Agent:
        """What is said of an agent; a row of moot.toml says it anew at the next start."""

    @http.post(f"{AGENT}/interrupt")
    async def interrupt(self, name: str) -> None:
        """Stop whatever the agent is saying, everywhere."""

    @http.post(f"{AGENT}/pause", repeats=True)
    async def pause(self, name: str) -> Agent:
        """It gets no turns until it is resumed."""

    @http.post(f"{AGENT}/resume", repeats=True)
    async def resume(self, name: str) -> Agent:
        """It gets turns again."""

    @http.delete(AGENT, repeats=True)
    async def remove(self, name: str) -> Agent:
        """Take an agent out: it is in no list, nothing waits for it, its tokens open nothing. What it said stays.

        Whoever is enrolled under its name later takes up where it left.
        """

    # --- outside agents: somebody else's processes -------------------------------------------------------

    @not_over_http("a door on this machine lets somebody in so; over HTTP the owner enrols an agent")
    async def arrive(self, door: str, **whence: Any) -> Agent:
        """Who comes in: by `name`, or found again by `client` and `folder`; made where nobody is known."""

    @not_over_http("coding clients come in on the hub's own machine")
    async def arrivals(self, client: str | None = None, folder: str | None = None) -> Arrivals:
        """Who came in by a client or any, from one folder or any, the first one first."""

    @not_over_http("over HTTP an open wait is the sign of life")
    async def seen(self, name: str, *, door: str, reach: str = "on-demand") -> None:
        """An outside agent gave a sign of life at a door; with hooks that hand messages over, `next-turn`."""

    @not_over_http(HOOKS)
    async def hooked(self, name: str, event: str, *, again: bool = False, limit: int = 20) -> shapes.Hooked:
        """A hook of an agent's client runs, at a moment of its session: what it is to hand over there.

        It counts as read once the hook has said so (`hook_said`) and the turn has ended, and is given again until then.
        """

    @not_over_http(HOOKS)
    async def hook_said(self, name: str, *, handed: Sequence[str] = ()) -> None:
        """A hook has written to its client what it was to hand over, these turns among it."""

    # --- tokens ------------------------------------------------------------------------------------------

    @http.get(f"{AGENT}/tokens", part="tokens")
    async def tokens(self, name: str) -> Tokens:
        """Those that were issued, revoked ones too; never the tokens themselves."""

    @http.post(f"{AGENT}/tokens")
    async def issue_token(self, name: str, *, scopes: Sequence[str] = ("read", "post")) -> shapes.IssuedToken:
        """A new token for somebody. It is shown this once."""

    @http.delete(f"{AGENT}/tokens/{{id}}")
    async def revoke_token(self, name: str, id: str) -> shapes.Token:
        """From now on it opens nothing, nor does what was issued with it."""
