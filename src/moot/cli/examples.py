"""Commands that reach a running hub, printed to be copied: they work as they stand."""

import shlex

from moot.cli.coding.clients import Claude
from moot.cli.coding.entry import server
from moot.settings import Home


def curl_line(home: Home, url: str) -> str:
    """The agents, asked for over HTTP; the token stays in its file."""
    token = f'"Authorization: Bearer $(cat {shlex.quote(str(home.token))})"'
    return f"curl -H {token} {url}/api/agents"


def claude_line(home: Home) -> str:
    """Registers Moot with Claude Code."""
    claude = Claude()
    words = claude.adding(server(home.path, client=claude.name), "user")
    return shlex.join(words or ())
