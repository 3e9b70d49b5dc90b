"""Commands that reach a running hub, printed to be copied: they work as they stand, and are as short as that allows."""

import shlex
from pathlib import Path

from moot.cli.mcp.clients.entry import server
from moot.cli.mcp.clients.known import Claude
from moot.cli.run.welcome import shown
from moot.settings import Home


def curl_line(home: Home, url: str) -> str:
    """The agents, asked for over HTTP; the token stays in its file."""
    token = f'"Authorization: Bearer $(cat {typed(str(home.token))})"'
    return f"curl -H {token} {url}/api/agents"


def claude_line(home: Home) -> str:
    """Registers Moot with Claude Code."""
    claude = Claude()
    words = claude.adding(server(home.path, client=claude.name), "user")
    return " ".join(typed(word) for word in words or ())


def typed(word: str) -> str:
    """A word as one types it to a shell; a path below one's own home begins with ~, which the shell knows."""
    short = shown(Path(word)) if word.startswith("/") else word
    return f"~/{shlex.quote(short[2:])}" if short.startswith("~/") and short != word else shlex.quote(word)
