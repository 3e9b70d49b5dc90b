"""The tools an agent may use, as `tools = [...]` writes them: `shell:git,ls`, `notes`.

Above: checks.py finds what is wrong with them, moot/tools offers what they name. Below: nothing.
Not here: the tools.
"""

import re
from collections.abc import Iterator, Sequence
from enum import StrEnum
from typing import Final

from msgspec import Struct

_PROGRAM: Final = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,99}")


class ToolName(StrEnum):
    SHELL = "shell"
    UNSANDBOXED = "shell-unsandboxed"
    """The same without a sandbox: only if the owner asks for it by this name."""
    TEXT = "text-tools"
    """Calls are also read from the agent's text, for models that cannot call tools."""
    NOTES = "notes"
    """Read and write the shared notes that the agent was granted."""
    TASKS = "tasks"
    """Delegate, and report on tasks."""
    MESSAGES = "messages"
    """Write to other agents and ask them."""


SHELLS: Final = (ToolName.SHELL, ToolName.UNSANDBOXED)


class Toolbox(Struct, frozen=True):
    """What a checked list allows. `programs` is empty without a shell."""

    programs: tuple[str, ...] = ()
    sandboxed: bool = True
    text_form: bool = False
    messages: bool = False
    tasks: bool = False
    notes: bool = False


def toolbox(tools: Sequence[str]) -> Toolbox:
    programs: tuple[str, ...] = ()
    names = set()
    for entry in tools:
        name, _, rest = entry.partition(":")
        names.add(name)
        if name in SHELLS:
            programs += tuple(program.strip() for program in rest.split(","))
    return Toolbox(
        programs=tuple(dict.fromkeys(programs)),
        sandboxed=ToolName.UNSANDBOXED not in names,
        text_form=ToolName.TEXT in names and bool(programs),
        messages=ToolName.MESSAGES in names,
        tasks=ToolName.TASKS in names,
        notes=ToolName.NOTES in names,
    )


def troubles(tools: Sequence[str]) -> Iterator[tuple[int, str]]:
    """What is wrong, with the number of the entry: words that follow `tools[0] = "…" `."""
    numbers: dict[str, int] = {}
    for number, entry in enumerate(tools):
        name, colon, rest = entry.partition(":")
        if words := _trouble(name, colon, rest, numbers):
            yield number, words
        numbers.setdefault(ToolName.SHELL if name in SHELLS else name, number)
    if ToolName.TEXT in numbers and ToolName.SHELL not in numbers:
        yield numbers[ToolName.TEXT], "needs a shell; expected shell:PROGRAM,PROGRAM as well"


def _trouble(name: str, colon: str, rest: str, numbers: dict[str, int]) -> str:
    if name in SHELLS:
        return _shell_trouble(name, rest, numbers)
    if name not in set(ToolName):
        return f"is not a tool; expected one of {', '.join(_forms())}"
    if colon:
        return f"takes no arguments; expected {name}"
    return f"is listed twice, first as tools[{numbers[name]}]" if name in numbers else ""


def _shell_trouble(name: str, rest: str, numbers: dict[str, int]) -> str:
    if ToolName.SHELL in numbers:
        return (
            f"is a second shell, after tools[{numbers[ToolName.SHELL]}]; expected one shell with all programs"
        )
    if not rest.strip():
        return f"lists no program; expected {name}:git,ls"
    wrong = [part.strip() for part in rest.split(",") if not _PROGRAM.fullmatch(part.strip())]
    if wrong:
        return f"lists {wrong[0][:60]!r}, which is not a program name; expected bare names, such as {name}:git,ls"
    return ""


def _forms() -> Iterator[str]:
    for name in ToolName:
        yield f"{name}:PROGRAM,PROGRAM" if name in SHELLS else name
