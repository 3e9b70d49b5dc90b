"""How something came in: by which door, and whether the owner spoke in somebody's name.

Above: hub/core.py says it for every voice, flow/steps/admission.py hands it to the decision. Below: messages and the
audit keep it.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Final

from msgspec import Struct

from moot.model.ids import ParticipantId
from moot.model.json import JsonObject


class DoorName(StrEnum):
    CLI = "cli"
    TUI = "tui"
    WEB = "web"
    HTTP = "http"
    WS = "ws"
    MCP = "mcp"
    A2A = "a2a"
    TELEGRAM = "telegram"
    DISCORD = "discord"
    SDK = "sdk"
    """A program that has the home open, or an agent that it hosts."""
    CONFIG = "config"
    """moot.toml."""
    HUB = "hub"
    """Nobody came in: a turn ended, a deadline passed."""


DOOR: Final = "door"
SPOKEN_BY: Final = "spoken_by"
"""Of a message's metadata: by which door it came, and who spoke where the owner did so for its author."""
UNMARKED: Final = frozenset({DoorName.SDK, DoorName.HUB, DoorName.CONFIG})


class Entrance(Struct, frozen=True, gc=False):
    door: DoorName
    owner: ParticipantId | None = None
    """Who really spoke, where the owner did so in the author's name."""

    @property
    def marks(self) -> JsonObject:
        """What a message keeps of it; nothing where a program that has the home open, or the hub itself, wrote it."""
        return _marks(self)


@lru_cache(maxsize=64)
def _marks(entrance: Entrance) -> JsonObject:
    marks: JsonObject = {} if entrance.door in UNMARKED else {DOOR: entrance.door.value}
    return marks if entrance.owner is None else {**marks, SPOKEN_BY: entrance.owner}


NOBODY_CAME: Final = Entrance(DoorName.HUB)
"""Of what the hub does by itself."""
PROGRAM: Final = Entrance(DoorName.SDK)
