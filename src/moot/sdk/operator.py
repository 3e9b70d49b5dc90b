"""`hub.operator`: what whoever looks after a hub asks for and does."""

from __future__ import annotations

from typing import TypeAlias

from moot import shapes
from moot.sdk import http
from moot.sdk.call import Subject

AGENT = "/api/agents/{agent}"
Files: TypeAlias = list[shapes.RoleFile]
Settings: TypeAlias = list[shapes.ListedSetting]
Providers: TypeAlias = list[shapes.ModelProvider]
Backups: TypeAlias = list[shapes.ListedBackup]


class OperatorCalls(Subject, subject="operator"):
    @http.get("/api/live", part="turns")
    async def live(self, *, conversation: str | None = None) -> list[shapes.LiveTurn]:
        """List running turns that have said something, with their text so far: it is posted when they end. What is
        said next comes as `turn.delta` events, each with its `offset`."""

    @http.get("/api/now")
    async def now(self, *, limit: int = 10) -> shapes.Now:
        """Get where things stand: what needs you, who is working, what was done in the last day, and which brakes are
        in force; at most `limit` rows of each. All of the hub for the owner, else what is in your conversations."""

    @http.get("/api/now/hour")
    async def last_hour(self) -> shapes.LastHour:
        """Get what happened in the last hour, in numbers: messages, refusals, what was held, what it cost."""

    # --- agents as processes, and who they are; owner only ------------------------------------------------

    @http.post("/api/hosted-agents")
    async def add_agent(self, name: str, *, role: str = "", brain: str = "demo") -> shapes.Agent:
        """Add an agent to moot.toml, with files that say who it is; the hub runs it at once. Its brain is `demo` or a
        model: what runs a program is set up where that program is."""

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

    @http.get("/api/providers", part="providers")
    async def providers(self) -> Providers:
        """List providers of models: which agents think with each, and the last four characters of its key."""

    @http.post("/api/providers/{name}/test", repeats=True)
    async def test_provider(self, name: str) -> shapes.TriedProvider:
        """Ask a provider for its models, with the key there is; this uses no tokens."""

    @http.get("/api/backups", part="backups")
    async def backups(self) -> Backups:
        """List the backups in the home, newest first."""

    @http.post("/api/backups")
    async def back_up(self) -> shapes.MadeBackup:
        """Back up the database while it is in use, verify the copy, and put settings and role files beside it."""

    @http.post("/api/imports", repeats=True)
    async def import_text(self, text: str, *, dry_run: bool = False) -> shapes.Imported:
        """Bring in conversations that `moot export --format jsonl` wrote; with `dry_run`, only say what would happen.
        Importing the same text again changes nothing."""
