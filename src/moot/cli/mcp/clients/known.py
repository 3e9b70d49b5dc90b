"""The coding CLIs Moot knows: where each has its servers and hooks, and its own commands to change them.

Forms and files are those of Claude Code 2.1, Codex 0.166 and Gemini CLI 0.61, tried on the programs themselves; for VS
Code and Antigravity they are what their documentation says.
"""

import json
import os
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import ClassVar, Final, Literal, TypeAlias

from msgspec import Struct

from moot.cli.mcp.clients.documents import Add, Edit, Put, toml_table
from moot.cli.mcp.clients.entry import SERVER, Http, Stdio, Way
from moot.model.json import JsonObject

Scope: TypeAlias = Literal["user", "project"]


class UserEnvironment(Struct, frozen=True):
    """A person's environment: the folder, and the variables that move programs' settings."""

    folder: Path
    environ: Mapping[str, str]

    def user(self, *parts: str) -> Path:
        return Path(self.environ.get("HOME") or Path.home()).joinpath(*parts)

    def named_by(self, variable: str, otherwise: Path) -> Path:
        """The folder that a variable names; `otherwise` if it is not set."""
        folder = self.environ.get(variable)
        return Path(folder) if folder else otherwise

    @classmethod
    def here(cls) -> "UserEnvironment":
        return cls(Path.cwd(), os.environ)


class Client:
    """One coding CLI. A command of None means that it has none, and its file is edited."""

    name: ClassVar[str]
    title: ClassVar[str]
    program: ClassVar[str]
    servers: ClassVar[str] = "mcpServers"
    """The key under which its settings list MCP servers."""
    patience: ClassVar[float | None] = None
    """Seconds it waits for a server to start, where that is known."""
    after: ClassVar[str] = "restart open sessions"
    trust: ClassVar[str] = ""
    """What a person has to do before its hooks run."""

    def found(self, place: UserEnvironment) -> str | None:
        """The program's path; None where it is not installed."""
        return shutil.which(self.program, path=place.environ.get("PATH"))

    def config(self, scope: Scope, place: UserEnvironment) -> Path:
        raise NotImplementedError

    def hooks(self, scope: Scope, place: UserEnvironment) -> Path | None:
        """The file with its hooks; None if Moot knows no hooks of it."""
        return None

    def entry(self, way: Way) -> JsonObject:
        if isinstance(way, Stdio):
            return {"command": way.argv[0], "args": list(way.argv[1:])}
        return {"type": "http", "url": way.url, "headers": {"Authorization": way.bearer}}

    def edits(self, way: Way) -> tuple[Edit, ...]:
        """What its settings file must hold."""
        return (Put((self.servers, SERVER), self.entry(way)),)

    def adding(self, way: Way, scope: Scope) -> tuple[str, ...] | None:
        return None

    def removing(self, scope: Scope) -> tuple[str, ...] | None:
        return None

    def snippet(self, way: Way) -> str:
        """What a person pastes."""
        document: JsonObject = {}
        for edit in self.edits(way):
            holder = document
            for key in edit.path[:-1]:
                holder = holder.setdefault(key, {})
            holder[edit.path[-1]] = [edit.value] if isinstance(edit, Add) else edit.value
        return json.dumps(document, indent=2, ensure_ascii=False) + "\n"

    def knows(self, document: Mapping[str, object]) -> object:
        """The client's entry for Moot; None if it has none."""
        servers = document.get(self.servers)
        return servers.get(SERVER) if isinstance(servers, Mapping) else None

    def is_set_up(self, document: Mapping[str, object], way: Way) -> bool:
        """Whether the client's entry for Moot has this way; other keys in the entry do not matter."""
        entry = self.knows(document)
        expected = self.entry(way)
        return isinstance(entry, Mapping) and all(
            entry.get(key) == value for key, value in expected.items() if key != "type"
        )


class Claude(Client):
    name = "claude"
    title = "Claude Code"
    program = "claude"
    patience = 30.0
    after = "restart open sessions; /mcp there should list moot"

    def config(self, scope: Scope, place: UserEnvironment) -> Path:
        if scope == "project":
            return place.folder / ".mcp.json"
        return place.named_by("CLAUDE_CONFIG_DIR", place.user()) / ".claude.json"

    def hooks(self, scope: Scope, place: UserEnvironment) -> Path | None:
        if scope == "project":
            # a project's settings.json is shared by its people; the path of this moot is not
            return place.folder / ".claude" / "settings.local.json"
        return place.named_by("CLAUDE_CONFIG_DIR", place.user(".claude")) / "settings.json"

    def entry(self, way: Way) -> JsonObject:
        if isinstance(way, Stdio):
            return {"type": "stdio", **super().entry(way)}
        return super().entry(way)

    def adding(self, way: Way, scope: Scope) -> tuple[str, ...] | None:
        start = ("claude", "mcp", "add", "--scope", scope, "--transport")
        match way:
            case Stdio(argv):
                return (*start, "stdio", SERVER, "--", *argv)
            case Http(url):
                return (*start, "http", SERVER, url, "--header", f"Authorization: {way.bearer}")

    def removing(self, scope: Scope) -> tuple[str, ...] | None:
        return ("claude", "mcp", "remove", "--scope", scope, SERVER)


class Codex(Client):
    name = "codex"
    title = "Codex"
    program = "codex"
    servers = "mcp_servers"
    patience = 10.0
    trust = "Codex runs hooks only once you trust them: start codex, type /hooks"

    def config(self, scope: Scope, place: UserEnvironment) -> Path:
        return self._folder(scope, place) / "config.toml"

    def hooks(self, scope: Scope, place: UserEnvironment) -> Path | None:
        return self._folder(scope, place) / "hooks.json"

    def _folder(self, scope: Scope, place: UserEnvironment) -> Path:
        if scope == "project":
            return place.folder / ".codex"
        return place.named_by("CODEX_HOME", place.user(".codex"))

    def entry(self, way: Way) -> JsonObject:
        if isinstance(way, Http):
            return {"url": way.url, "bearer_token_env_var": way.variable}
        return super().entry(way)

    def adding(self, way: Way, scope: Scope) -> tuple[str, ...] | None:
        if scope == "project":
            return None  # its own command knows only the user's file
        match way:
            case Stdio(argv):
                return ("codex", "mcp", "add", SERVER, "--", *argv)
            case Http(url, variable):
                return ("codex", "mcp", "add", SERVER, "--url", url, "--bearer-token-env-var", variable)

    def removing(self, scope: Scope) -> tuple[str, ...] | None:
        return ("codex", "mcp", "remove", SERVER) if scope == "user" else None

    def snippet(self, way: Way) -> str:
        return toml_table((self.servers, SERVER), self.entry(way))


class Gemini(Client):
    name = "gemini"
    title = "Gemini CLI"
    program = "gemini"

    def config(self, scope: Scope, place: UserEnvironment) -> Path:
        folder = place.folder if scope == "project" else place.user()
        return folder / ".gemini" / "settings.json"

    def entry(self, way: Way) -> JsonObject:
        if isinstance(way, Http):
            return {"url": way.url, "type": "http", "headers": {"Authorization": way.bearer}}
        return super().entry(way)

    def adding(self, way: Way, scope: Scope) -> tuple[str, ...] | None:
        start = ("gemini", "mcp", "add", "--scope", scope)
        match way:
            case Stdio(argv):
                return (*start, SERVER, *argv)
            case Http(url):
                header = f"Authorization: {way.bearer}"
                return (*start, "--transport", "http", "--header", header, SERVER, url)

    def removing(self, scope: Scope) -> tuple[str, ...] | None:
        return ("gemini", "mcp", "remove", "--scope", scope, SERVER)


class Antigravity(Client):
    name = "antigravity"
    title = "Antigravity CLI"
    program = "agy"

    def config(self, scope: Scope, place: UserEnvironment) -> Path:
        if scope == "project":
            return place.folder / ".agents" / "mcp_config.json"
        return place.user(".gemini", "config", "mcp_config.json")

    def entry(self, way: Way) -> JsonObject:
        if isinstance(way, Http):
            return {"serverUrl": way.url, "headers": {"Authorization": way.bearer}}
        return super().entry(way)


class VsCode(Client):
    """`code --add-mcp` needs an open window, and no command removes an entry: so the file is edited."""

    name = "vscode"
    title = "VS Code"
    program = "code"
    servers = "servers"
    after = "open windows will ask you to start it"
    ask_for: ClassVar[JsonObject] = {
        "type": "promptString",
        "id": "moot-token",
        "description": "This agent's Moot token",
        "password": True,
    }

    def config(self, scope: Scope, place: UserEnvironment) -> Path:
        if scope == "project":
            return place.folder / ".vscode" / "mcp.json"
        if sys.platform == "darwin":
            return place.user("Library", "Application Support", "Code", "User", "mcp.json")
        return place.named_by("XDG_CONFIG_HOME", place.user(".config")) / "Code" / "User" / "mcp.json"

    def entry(self, way: Way) -> JsonObject:
        if isinstance(way, Http):
            headers = {"Authorization": f"Bearer ${{input:{self.ask_for['id']}}}"}
            return {"type": "http", "url": way.url, "headers": headers}
        return {"type": "stdio", **super().entry(way)}

    def edits(self, way: Way) -> tuple[Edit, ...]:
        prompts = (Add(("inputs",), self.ask_for),) if isinstance(way, Http) else ()
        return (*prompts, *super().edits(way))


class Generic(Client):
    """Any other MCP client: its entry is only printed."""

    name = "generic"
    title = "any MCP client"
    program = ""

    def config(self, scope: Scope, place: UserEnvironment) -> Path:
        return place.folder / ".mcp.json"


CLIENTS: Final[dict[str, Client]] = {
    client.name: client for client in (Claude(), Codex(), Gemini(), Antigravity(), VsCode())
}
PRINTED: Final[dict[str, Client]] = {**CLIENTS, "generic": Generic()}
