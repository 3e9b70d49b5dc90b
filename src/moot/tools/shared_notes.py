"""The tools of shared notes, `read_shared_note` and `write_shared_note`: of model brains, and over MCP the same.

Above: offer.py gives them to agents whose `tools` say notes; doors/mcp/tools.py calls `read` and `write`. Below:
`hub.notes` with the agent's own voice, which knows what it may.
"""

from msgspec import Struct

from moot.brain import HostedTurn
from moot.flow.write_note import UNREAD
from moot.model.json import JsonObject
from moot.sdk.notes import NoteCalls
from moot.tools.hub_tools import HubTool


async def read(notes: NoteCalls, name: str) -> JsonObject:
    return (await notes.get(name)).to_dict()


async def write(notes: NoteCalls, name: str, text: str, version: int) -> JsonObject:
    """Which version it is now; whoever wrote the text need not read it again. Who does not say which version it read is
    refused with what stands."""
    written = await notes.write(name, text, version=version or UNREAD)
    return {"name": written.name, "version": written.version}


class NoteWanted(Struct, frozen=True, forbid_unknown_fields=True):
    name: str


class NoteToWrite(Struct, frozen=True, forbid_unknown_fields=True):
    name: str
    text: str
    version: int = 0


async def read_shared_note(turn: HostedTurn, given: NoteWanted) -> JsonObject:
    return await read(turn.hub.notes, given.name)


async def write_shared_note(turn: HostedTurn, given: NoteToWrite) -> JsonObject:
    return await write(turn.hub.notes, given.name, given.text, given.version)


def note_tools() -> tuple[HubTool, ...]:
    """Doing either twice does no more than once: the same text is no new version."""
    return HubTool(NoteWanted, read_shared_note), HubTool(NoteToWrite, write_shared_note)
