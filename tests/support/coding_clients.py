"""Stand-ins for `claude` and `codex` on PATH: they write down how they are called, and change their files as the real
ones do. tests/clis does the same with the real programs; what these do was seen there.
"""

import json
import sys
from pathlib import Path
from typing import Any

CLAUDE = '''#!PYTHON
"""Claude Code 2.1: `mcp add` and `mcp remove` rewrite ~/.claude.json, or .mcp.json for a project."""
import json, os, sys, time
from pathlib import Path

home = Path(os.environ["HOME"])
with open(home / "calls.jsonl", "a") as calls:
    calls.write(json.dumps(["claude", *sys.argv[1:]]) + "\\n")
words = sys.argv[2:]
verb, scope = words[0], words[words.index("--scope") + 1]
base = Path(os.environ.get("CLAUDE_CONFIG_DIR") or home)
path = base / ".claude.json" if scope == "user" else Path.cwd() / ".mcp.json"
document = json.loads(path.read_text()) if path.exists() else {}
if scope == "user":
    backups = home / ".claude" / "backups"
    backups.mkdir(parents=True, exist_ok=True)
    (backups / f".claude.json.backup.{time.time_ns()}").write_text(json.dumps(document))
    document.setdefault("firstStartTime", "2026-11-16T08:29:06.740Z")
servers = document.setdefault("mcpServers", {})
if verb == "add":
    transport = words[words.index("--transport") + 1]
    name = words[words.index("--transport") + 2]
    if name in servers:
        sys.exit(f"MCP server {name} already exists in {scope} config")
    if transport == "stdio":
        command, *args = words[words.index("--") + 1 :]
        servers[name] = {"type": "stdio", "command": command, "args": args, "env": {}}
    else:
        key, _, value = words[words.index("--header") + 1].partition(": ")
        servers[name] = {"type": "http", "url": words[words.index(name) + 1], "headers": {key: value}}
elif words[-1] not in servers:
    sys.exit(f"No MCP server found with name: {words[-1]}")
else:
    del servers[words[-1]]
    document["userID"] = "89eb38214c6fb198"
path.write_text(json.dumps(document, indent=2))
if os.environ.get("CLAUDE_FAILS_LATE"):
    sys.exit("something went wrong after all")
'''

CODEX = '''#!PYTHON
"""Codex 0.166: `mcp add` and `mcp remove` change the tables of ~/.codex/config.toml and leave its comments."""
import json, os, re, sys
from pathlib import Path

home = Path(os.environ["HOME"])
with open(home / "calls.jsonl", "a") as calls:
    calls.write(json.dumps(["codex", *sys.argv[1:]]) + "\\n")
path = Path(os.environ.get("CODEX_HOME") or home / ".codex") / "config.toml"
text = path.read_text() if path.exists() else ""
verb, name, *rest = sys.argv[2:]
table = rf"\\[mcp_servers\\.{name}\\]\\n(?:(?!\\[).*\\n?)*"
text = re.sub(table, "", text)
if verb == "add":
    if rest[0] == "--":
        rows = f"command = {json.dumps(rest[1])}\\nargs = {json.dumps(rest[2:])}\\n"
    else:
        rows = f"url = {json.dumps(rest[1])}\\nbearer_token_env_var = {json.dumps(rest[3])}\\n"
    text += ("\\n" if text else "") + f"[mcp_servers.{name}]\\n{rows}"
path.parent.mkdir(parents=True, exist_ok=True)
path.write_text(text)
print(f"{verb.capitalize()}ed global MCP server '{name}'.")
'''

CODE = "#!PYTHON\n"
PROGRAMS = {"claude": CLAUDE, "codex": CODEX, "code": CODE, "agy": CODE}


class Desk:
    """A person's home folder with coding CLIs on its PATH, and their settings in it."""

    def __init__(self, home: Path, *programs: str) -> None:
        self.home = home
        self.project = home / "api"
        self.bin = home / "bin"
        self.project.mkdir(parents=True)
        self.bin.mkdir()
        for name in programs:
            self.put(name)

    def put(self, name: str) -> Path:
        program = self.bin / name
        program.write_text(PROGRAMS[name].replace("PYTHON", sys.executable))
        program.chmod(0o755)
        return program

    def environ(self) -> dict[str, str]:
        return {"HOME": str(self.home), "PATH": str(self.bin)}

    def write(self, name: str, text: str, mode: int = 0o644) -> Path:
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text.encode())
        path.chmod(mode)
        return path

    def json(self, name: str) -> Any:
        return json.loads((self.home / name).read_text())

    @property
    def calls(self) -> list[list[str]]:
        """How the stand-ins were called."""
        kept = self.home / "calls.jsonl"
        return [json.loads(line) for line in kept.read_text().splitlines()] if kept.exists() else []

    def snapshot(self) -> dict[str, tuple[bytes, int]]:
        """Every settings file: its bytes and its mode. Not the backups that Claude Code makes for itself."""
        return {
            str(path.relative_to(self.home)): (path.read_bytes(), path.stat().st_mode)
            for path in sorted(self.home.rglob("*"))
            if path.is_file()
            and not {"backups", "bin", "calls.jsonl", ".moot"} & set(path.relative_to(self.home).parts)
        }
