"""Commands that reach a running hub, printed to be copied: complete, and as short as that allows."""

import shlex
from pathlib import Path

from moot.cli.mcp.clients.entry import server
from moot.cli.mcp.clients.known import Claude
from moot.cli.run.welcome import tilde_path
from moot.settings import Home


def curl_line(home: Home, url: str) -> str:
    """List the agents over HTTP; the token stays in its file."""
    token = f'"Authorization: Bearer $(cat {shell_word(str(home.token))})"'
    return f"curl -H {token} {url}/api/agents"


def claude_line(home: Home) -> str:
    """Registers Moot with Claude Code."""
    claude = Claude()
    words = claude.adding(server(home.path, client=claude.name), "user")
    return " ".join(shell_word(word) for word in words or ())


def shell_word(word: str) -> str:
    """A word quoted for a shell; a path below the person's home begins with ~."""
    short = tilde_path(Path(word)) if word.startswith("/") else word
    return f"~/{shlex.quote(short[2:])}" if short.startswith("~/") and short != word else shlex.quote(word)
