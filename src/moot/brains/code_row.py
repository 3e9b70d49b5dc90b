"""The function of a row of moot.toml whose brain is `code:module:attr`.

Above: wiring. Below: code_module.py finds the function. Here: the error if it does not.
"""

from pathlib import Path
from typing import cast

from moot.brain import Watch
from moot.brains import code_module
from moot.brains.code import AgentSpec, Think, refuse_unless_async
from moot.errors import BadValue
from moot.settings import AgentSettings, Home


def function_of(row: AgentSettings, home: Home) -> Think:
    """The function of an agent that speaks."""
    loaded = _load(row, home)
    if isinstance(loaded, AgentSpec) and loaded.watch is not None:
        raise _unloadable(row, home, "it is a supervisor, and the row has no watches")
    return loaded.think if isinstance(loaded, AgentSpec) else cast(Think, loaded)


def _load(row: AgentSettings, home: Home) -> object:
    module, _, attribute = row.brain.removeprefix("code:").partition(":")
    try:
        return code_module.load(_project(row, home), module, attribute)
    except code_module.Unloadable as reason:
        raise _unloadable(row, home, str(reason)) from reason


def watch_of(row: AgentSettings, home: Home) -> Watch:
    """The function of a supervisor."""
    loaded = _load(row, home)
    if isinstance(loaded, AgentSpec):
        if loaded.watch is None:
            raise _unloadable(row, home, "it is an agent that speaks, and the row says that it watches")
        return loaded.watch
    refuse_unless_async(row.name, loaded)
    return cast(Watch, loaded)


def look_for_function(row: AgentSettings, home: Home) -> None:
    """Raise BadValue unless the module exists and seems to have the function. Nothing of it is run."""
    module, _, attribute = row.brain.removeprefix("code:").partition(":")
    try:
        code_module.look(_project(row, home), module, attribute)
    except code_module.Unloadable as reason:
        raise _unloadable(row, home, str(reason)) from reason


def _project(row: AgentSettings, home: Home) -> Path:
    return home.folder(row.project or ".")


def _unloadable(row: AgentSettings, home: Home, reason: str) -> BadValue:
    return BadValue(
        f"agent {row.name}: {row.brain} cannot be loaded: {reason}",
        detail=(
            f"looked in its project {_project(row, home)}, then on the import path (PYTHONPATH and installed "
            "packages)"
        ),
        fix=(
            f"set project of {row.name} in {home.toml} to the folder that holds the module, or correct its brain",
        ),
    )
