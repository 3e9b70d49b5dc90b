"""What a started agent may do: no more than its spawner, wherever the two can be compared.

The owner's template says what is started, and the owner's row of the spawner how much of that it can hand on: rights
are passed on, never made. Above: spawn.py. Below: nothing; it compares two rows of moot.toml.
"""

from collections.abc import Iterator
from typing import Final

from moot.rules.brain_kinds import has_model, is_cli
from moot.settings import AgentSettings
from moot.settings.schema.tools import Toolbox, toolbox
from moot.settings.values import CliPermissions, CliSandbox

ORDER: Final = (CliPermissions.READ, CliPermissions.EDIT, CliPermissions.ASK, CliPermissions.ALL)
"""Each may do what the one before it may, and more."""


def beyond(child: AgentSettings, parent: AgentSettings) -> list[str]:
    """The rights that the child would have and its spawner has not, each as a sentence that names the row."""
    return [*_of_programs(child, parent), *_of_tools(child, parent)]


def _of_programs(child: AgentSettings, parent: AgentSettings) -> Iterator[str]:
    """Coding CLIs. What a spawner that is none may hand on is the `permissions` of its own row."""
    if not is_cli(child.brain):
        return
    if ORDER.index(child.permissions) > ORDER.index(parent.permissions):
        yield f'permissions = "{child.permissions}", where {parent.name} has "{parent.permissions}"'
    if not is_cli(parent.brain):
        return
    if parent.sandbox is not CliSandbox.NONE and child.sandbox is CliSandbox.NONE:
        yield f"no sandbox, where {parent.name} is in one"
    more = sorted(set(child.environment) - set(parent.environment))
    if more:
        yield f"the variables {', '.join(more)}, which {parent.name} is not given"


def _of_tools(child: AgentSettings, parent: AgentSettings) -> Iterator[str]:
    """The tools of agents that think with a model. A CLI runs programs itself, and talks anyway."""
    if not has_model(child.brain) or not (has_model(parent.brain) or is_cli(parent.brain)):
        return
    wants, has = toolbox(child.tools), _hands_on(parent)
    programs = [name for name in wants.programs if has.programs != ANY and name not in has.programs]
    if programs:
        yield f"the programs {', '.join(programs)}, which {parent.name} may not run"
    if wants.programs and not wants.sandboxed and has.sandboxed:
        yield f"programs without a sandbox, where {parent.name} has none such"
    for tool in ("messages", "tasks", "notes"):
        if getattr(wants, tool) and not getattr(has, tool):
            yield f"the tool {tool}, which {parent.name} has not"


ANY: Final = ("*",)


def _hands_on(parent: AgentSettings) -> Toolbox:
    if has_model(parent.brain):
        return toolbox(parent.tools)
    may_run = parent.permissions is not CliPermissions.READ
    boxed = parent.sandbox is not CliSandbox.NONE
    return Toolbox(ANY if may_run else (), sandboxed=boxed, messages=True, tasks=True, notes=True)
