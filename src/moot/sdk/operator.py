"""`hub.operator`: what whoever looks after a hub asks for and does."""

from __future__ import annotations

from typing import TypeAlias

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject

AGENT = "/api/agents/{agent}"
Files: TypeAlias = list[shapes.RoleFile]
Settings: TypeAlias = list[shapes.ListedSetting]


class OperatorCalls(Subject, subject="operator"):
    @http.get("/api/live", part="turns")
    async def live(self, *, conversation: str | None = None) -> list[shapes.LiveTurn]:
        """List running turns that have said something, with their text so far: it is posted when they end. What is
        said next comes as `turn.delta` events, each with its `offset`."""

    @http.get("/api/now")
    async def now(self, *, limit: int = 10) -> shapes.Now:
        """Get where things stand: what needs you, who is working, what was done in the last day, and which brakes are
        in force; at most `limit` rows of each. All of the hub for the owner, else what is in your conversations."""

    # --- agents as processes, and who they are; owner only ------------------------------------------------

    @http.post(f"{AGENT}/start")
    async def start(self, agent: str) -> shapes.Agent:
        """Start an agent of moot.toml: again inside the hub if it was stopped there, else as a daemon."""

    @http.post(f"{AGENT}/stop")
    async def stop(self, agent: str) -> shapes.Agent:
        """Stop an agent of moot.toml after the turns it has begun. One that the hub runs stays stopped until it is
        started again, or the hub is."""

    @http.post(f"{AGENT}/ping", repeats=True)
    async def ping(self, agent: str) -> shapes.PingedAgent:
        """Find out whether an agent is known and its process answers."""

    @http.get(f"{AGENT}/files", part="files")
    async def role_files(self, agent: str) -> Files:
        """Get the files that say who an agent is: SOUL.md, IDENTITY.md, USER.md, ROLE.md."""

    @http.put(f"{AGENT}/files/{{file}}", repeats=True)
    async def write_role_file(
        self, agent: str, file: str, text: str, *, seen: str | None = None
    ) -> shapes.RoleFile:
        """Write one of these files; it counts from the agent's next turn on. `seen` is the version you read: if there
        is another by now, `Conflict` carries both texts."""

    # --- the hub itself; owner only ---------------------------------------------------------------------

    @http.get("/api/logs")
    async def logs(self, *, agent: str | None = None, lines: int = 200) -> shapes.LogTail:
        """Get the end of the hub's log, or of an agent's daemon. What looks like a secret is blackened."""

    @http.get("/api/settings", part="settings")
    async def settings(self) -> Settings:
        """List every setting with its value, where that comes from and what it means."""

    @http.put("/api/settings/{key}", repeats=True)
    async def change_setting(self, key: str, value: str) -> shapes.ChangedValue:
        """Set a value in moot.toml, written as on the command line, and take it in. An invalid one is refused."""
