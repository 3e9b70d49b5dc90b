"""The port to a coding CLI: open a session, prompt it, interrupt it, close it; and what can happen meanwhile.

Above: command_brain.py. Below: claude.py, codex.py, acp.py and template.py fill it, each for one protocol; one contract
suite (tests/coding) holds for all of them. Not here: turns, prompts, sessions' rows.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, TypeAlias

from msgspec import Struct, json

from moot.brains.command.cli_sandbox import Wall, no_wall
from moot.brains.llm.keys import Secret
from moot.model.prompt import ToolCall, ToolResult, ToolSpec, Usage


class Spoke(Struct, frozen=True):
    """A piece of text."""

    text: str


class NewAnswer(Struct, frozen=True):
    """Another answer begins: what was said before it was not the reply."""


class ToolBegan(Struct, frozen=True):
    """The CLI runs a tool of its own."""

    id: str
    name: str
    arguments: str = "{}"


class ToolEnded(Struct, frozen=True):
    id: str
    text: str = ""
    failed: bool = False


class Used(Struct, frozen=True):
    """What it has cost. `total_usd` counts from the session's beginning, restarts included; `usage` is of this prompt
    alone, and replaces what was said of it before."""

    usage: Usage
    total_usd: float | None = None


class Retrying(Struct, frozen=True):
    """The provider failed, and the CLI tries again by itself: no sign of life."""

    why: str = ""


class PromptEnding(StrEnum):
    END = "end"
    INTERRUPTED = "interrupted"
    LIMIT = "limit"
    DENIED = "denied"
    ERROR = "error"


class Ended(Struct, frozen=True):
    """The last thing that happens to a prompt. `why` is for people, where it is an error or a limit."""

    how: PromptEnding
    why: str = ""
    text: str | None = None
    """The whole answer, where the CLI says it once more; None where the pieces are all there is."""


Happened: TypeAlias = Spoke | NewAnswer | ToolBegan | ToolEnded | Used | Retrying | Ended


class CliError(Exception):
    """A CLI cannot be used. `notice` is what the conversation is told."""

    def __init__(self, notice: str) -> None:
        super().__init__(notice)
        self.notice = notice


class SessionLost(CliError):
    """The CLI does not know the session that is to be resumed."""


class CliDied(CliError):
    """Its process ended in the middle of something."""


class Permissions(StrEnum):
    READ = "read"
    EDIT = "edit"
    ASK = "ask"
    ALL = "all"


class Wish(Struct, frozen=True):
    """Something that the CLI may do only if it is allowed to."""

    tool: str
    action: str
    """What exactly, all of it, as a person reads it; empty where the CLI does not say."""
    paths: tuple[str, ...] = ()
    """Files it concerns, where that is known."""
    kind: str = ""
    """`read`, `edit`, `execute` …, where the CLI says so."""


def whole_action(main: str, beside: Mapping[str, object]) -> str:
    """All of what a CLI wants to do. A yes is known again by these words, so what stands beside the main thing is in
    them too, with a digest: no other action reads the same."""
    if not beside:
        return main
    lines = [f"{key}: {value if isinstance(value, str) else _coded(value)}" for key, value in beside.items()]
    digest = blake2b(_coded({"": main, **beside}).encode(), digest_size=8).hexdigest()
    return "\n".join((*((main,) if main else ()), *lines, f"[{digest}]"))


def _coded(value: object) -> str:
    return json.encode(value, order="sorted").decode()


class WishAnswer(Struct, frozen=True):
    allowed: bool
    words: str = ""
    """What the model is told of a denial."""


class CliPlace(Struct, frozen=True):
    """What a session runs in."""

    agent: str
    project: Path
    environ: Mapping[str, str]
    brief: str
    """What the agent is told once, the same in every session."""
    permissions: Permissions
    tools: Callable[[], tuple[ToolSpec, ...]]
    """Moot's own, as they are offered now."""
    call: Callable[[ToolCall], Awaitable[ToolResult]]
    """Run one of them, in the agent's name."""
    allow: Callable[[Wish], Awaitable[WishAnswer]]
    run_folder: Path
    """For what lives only as long as a process."""
    wrap: Wall = no_wall
    """Puts a command line into the sandbox, where there is one."""
    key: Secret | None = None
    """The one credential of a CLI that takes it over its pipe; None where it logs in by itself."""
    key_file: Path | None = None
    """Holds the one credential of a CLI that reads it from a file; None where it logs in by itself."""


class Opened(Struct, frozen=True):
    session: str
    version: str = ""
    resumed: bool = False


class Driver(Protocol):
    """One CLI's process and session. Nothing runs before `open` or after `close`."""

    name: str
    keeps_partial: bool
    """Whether what it said before an interrupt is in its own history."""

    async def open(self, place: CliPlace, resume: str | None) -> Opened:
        """Start it, with a new session or an earlier one. Raises `SessionLost` where that is not known any more."""
        ...

    def prompt(self, text: str) -> AsyncIterator[Happened]:
        """Ends with `Ended`; raises `CliDied` where the process ended first."""
        ...

    async def interrupt(self) -> None:
        """Stop what is prompted. Returns once its `Ended` is on the way, or the process has been ended."""
        ...

    async def close(self) -> None:
        """End the process and whatever it has started."""
        ...

    @property
    def alive(self) -> bool: ...
