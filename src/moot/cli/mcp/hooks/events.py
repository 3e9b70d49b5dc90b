"""The hooks that a client runs for Moot: at the end of a turn, before a prompt, at the start of a session.

Claude Code and Codex read the same form and send the same facts.
"""

import shlex
from typing import Final

from moot.cli.mcp.clients.documents import Add, Edit
from moot.cli.mcp.clients.entry import command
from moot.cli.mcp.clients.known import Client
from moot.settings.home import Home

EVENTS: Final = ("Stop", "UserPromptSubmit", "SessionStart")
SECONDS: Final = 10
"""The client ends the hook after this time; a hook takes a fraction of a second."""


def hook_command(client: Client, event: str, home: Home, agent: str = "") -> str:
    """A command for a shell. If Moot is missing or fails, the session does not notice."""
    words = command(("hook",), home.path, client=client.name, agent=agent)
    return f"{shlex.join((*words, event))} 2>/dev/null || true"


def hook_edits(client: Client, home: Home, agent: str = "") -> tuple[Edit, ...]:
    """The edits to the client's hooks file: one more group for each event."""
    return tuple(
        Add(
            ("hooks", event),
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": hook_command(client, event, home, agent),
                        "timeout": SECONDS,
                    }
                ]
            },
        )
        for event in EVENTS
    )
