"""The coding CLIs that Moot knows how to run, and which of them are on this machine.

Above: `moot init`, `moot agents new`, `moot doctor`. Below: the PATH alone; nothing is started.
"""

import shutil
from collections.abc import Mapping
from typing import Final

CLI_BRAINS: Final[Mapping[str, str]] = {
    "claude": "command:claude",
    "codex": "command:codex",
    "opencode": "acp:opencode acp",
    "gemini": "acp:gemini --acp",
    "qwen": "acp:qwen --acp",
    "copilot": "acp:copilot --acp",
    "goose": "acp:goose acp",
}
"""Program → the brain that runs it."""


def installed(environ: Mapping[str, str]) -> dict[str, str]:
    """The programs on the PATH, each with its brain."""
    path = environ.get("PATH", "")
    return {name: brain for name, brain in CLI_BRAINS.items() if shutil.which(name, path=path)}
