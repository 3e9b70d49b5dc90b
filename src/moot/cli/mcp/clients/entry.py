"""The entry for a client: the program to start, or the address to reach."""

import os
import re
import sys
from pathlib import Path
from typing import Final, TypeAlias

from msgspec import Struct

from moot.settings.home import find_home

SERVER: Final = "moot"
"""What Moot is called in every client."""


class Stdio(Struct, frozen=True, tag="stdio"):
    """A process that the client starts."""

    argv: tuple[str, ...]


class Http(Struct, frozen=True, tag="http"):
    """The running hub. The token identifies the agent."""

    url: str
    variable: str
    """The environment variable with the token: a secret does not belong in a settings file."""

    @property
    def bearer(self) -> str:
        return f"Bearer ${{{self.variable}}}"


Way: TypeAlias = Stdio | Http


def variable_of(agent: str) -> str:
    """One for each agent: the clients of a machine share their environment."""
    return f"MOOT_TOKEN_{re.sub('[^A-Z0-9]', '_', agent.upper())}"


def this_moot() -> tuple[str, ...]:
    """This program by its absolute path: a client's PATH may lack it."""
    beside = Path(sys.executable).with_name("moot")
    return (str(beside),) if os.access(beside, os.X_OK) else (sys.executable, "-m", "moot")


def command(verb: tuple[str, ...], home: Path, *, client: str = "", agent: str = "") -> tuple[str, ...]:
    """`moot mcp …` for one home. The home is named unless it is the default: clients do not pass variables on."""
    words = [*this_moot(), "mcp", *verb]
    if home != find_home(None, {"HOME": os.environ.get("HOME", "")}):
        words += ["--home", str(home)]
    if client:
        words += ["--client", client]
    if agent:
        words += ["--agent", agent]
    return tuple(words)


def server(home: Path, *, client: str = "", agent: str = "") -> Stdio:
    return Stdio(command((), home, client=client, agent=agent))
