"""From an agent's `tools` to what it is offered, and to a sentence for each tool that is off.

Above: wiring, `up` and `doctor`. Below: settings (what the list means), hub_tools.py, shared_notes.py, shell.py,
sandbox.py.
"""

from pathlib import Path

from msgspec import Struct

from moot.brain import Tool
from moot.settings.schema.tools import toolbox
from moot.tools.hub_tools import message_tools, spawn_tools, task_tools
from moot.tools.process import USUAL, Bounds
from moot.tools.room_tools import room_tools
from moot.tools.sandbox import Sandbox
from moot.tools.shared_notes import note_tools
from moot.tools.shell import ShellTool


class Offer(Struct, frozen=True):
    tools: tuple[Tool, ...] = ()
    off: tuple[str, ...] = ()
    """Why a tool that is set is not offered, one sentence each."""
    text_form: bool = False
    """Calls may also be read out of the agent's text (text_calls.py)."""


def program_tools(*, spawns: bool = False) -> tuple[Tool, ...]:
    """What an agent that is a program is given of Moot: all that an outside agent has over MCP but its mailbox.

    `spawns` says whether it may start agents."""
    own = {tool.spec.name for tool in room_tools()} | {"send_agent_message"}
    talk = tuple(tool for tool in message_tools() if tool.spec.name not in own)
    return (*room_tools(), *talk, *task_tools(), *note_tools(), *(spawn_tools() if spawns else ()))


def offered(
    tools: tuple[str, ...],
    project: Path,
    home: Path,
    *,
    spawns: bool = False,
    hidden: tuple[Path, ...] = (),
    sandbox: Sandbox | None = None,
    bounds: Bounds = USUAL,
) -> Offer:
    """What a checked `tools` setting comes to on this machine.

    `spawns` says whether it may start agents. `hidden` is what else of Moot no tool may see, such as a database outside
    the home. `sandbox` None looks for one.
    """
    box = toolbox(tools)
    talk: tuple[Tool, ...] = (
        *(message_tools() if box.messages else ()),
        *(task_tools() if box.tasks else ()),
        *(note_tools() if box.notes else ()),
        *(spawn_tools() if spawns else ()),
    )
    if not box.programs:
        return Offer(talk)
    wall = (sandbox or Sandbox.find()) if box.sandboxed else None
    shell = ShellTool(box.programs, project, sandbox=wall, hidden=(home, *hidden), bounds=bounds)
    if shell.why_off:
        return Offer(talk, off=(shell.why_off,))
    return Offer((shell, *talk), text_form=box.text_form)
