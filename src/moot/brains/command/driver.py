"""The port to a coding CLI: open a session, prompt it, interrupt it, close it; and the events of a prompt.

Above: command_brain.py. Below: claude.py, codex.py, acp.py and template.py implement it, each for one protocol; one
contract suite (tests/coding) holds for all of them. Not here: turns, prompts, rows of sessions.
"""

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from enum import StrEnum
from hashlib import blake2b
from pathlib import Path
from typing import Protocol, TypeAlias

from msgspec import Struct, json

from moot.brains.command.cli_sandbox import SandboxWrap, no_sandbox
from moot.brains.llm.keys import Secret
from moot.model.prompt import ToolCall, ToolResult, ToolSpec, Usage


class TextDelta(Struct, frozen=True):
    """A piece of text."""

    text: str


class AnswerBegan(Struct, frozen=True):
    """Another answer begins: the text before it was not the reply."""


class ToolBegan(Struct, frozen=True):
    """The CLI runs a tool of its own."""

    id: str
    name: str
    arguments: str = "{}"


class ToolEnded(Struct, frozen=True):
    id: str
    text: str = ""
    failed: bool = False


class UsageReport(Struct, frozen=True):
    """What it has cost. `total_usd` counts from the session's beginning, restarts included; `usage` is of this prompt
    alone, and replaces earlier reports on it."""

    usage: Usage
    total_usd: float | None = None


class ProviderRetry(Struct, frozen=True):
    """The provider failed, and the CLI tries again by itself. This does not count as a sign of life."""

    why: str = ""


class PromptEnding(StrEnum):
    END = "end"
    INTERRUPTED = "interrupted"
    LIMIT = "limit"
    DENIED = "denied"
    ERROR = "error"


class PromptEnded(Struct, frozen=True):
    """The last event of a prompt. `why` explains an error or a limit to people."""

    how: PromptEnding
    why: str = ""
    text: str | None = None
    """The whole answer, if the CLI repeats it at the end; else None, and the pieces are the answer."""


CliEvent: TypeAlias = (
    TextDelta | AnswerBegan | ToolBegan | ToolEnded | UsageReport | ProviderRetry | PromptEnded
)


class CliError(Exception):
    """A CLI cannot be used. `notice` is shown in the conversation."""

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


class PermissionRequest(Struct, frozen=True):
    """An action that the CLI asks permission for."""

    tool: str
    action: str
    """The complete action, readable for a person; empty if the CLI does not say it."""
    paths: tuple[str, ...] = ()
    """The files it concerns, if known."""
    kind: str = ""
    """`read`, `edit`, `execute` …, if the CLI says so."""


def full_action(main: str, details: Mapping[str, object]) -> str:
    """The complete text of what a CLI wants to do. A granted permission is recognised by this text, so it includes all
    details and a digest: no other action has the same text."""
    if not details:
        return main
    lines = [
        f"{key}: {value if isinstance(value, str) else _to_json(value)}" for key, value in details.items()
    ]
    digest = blake2b(_to_json({"": main, **details}).encode(), digest_size=8).hexdigest()
    return "\n".join((*((main,) if main else ()), *lines, f"[{digest}]"))


def _to_json(value: object) -> str:
    return json.encode(value, order="sorted").decode()


class PermissionAnswer(Struct, frozen=True):
    allowed: bool
    words: str = ""
    """What the model is told about a denial."""


class CliSetup(Struct, frozen=True):
    """Everything a CLI needs to run a session of its agent."""

    agent: str
    project: Path
    environ: Mapping[str, str]
    brief: str
    """Instructions for the system prompt, the same in every session."""
    permissions: Permissions
    tools: Callable[[], tuple[ToolSpec, ...]]
    """Moot's tools, as they are offered now."""
    call: Callable[[ToolCall], Awaitable[ToolResult]]
    """Run one of them, in the agent's name."""
    allow: Callable[[PermissionRequest], Awaitable[PermissionAnswer]]
    run_folder: Path
    """A folder for files that live only as long as a process."""
    wrap: SandboxWrap = no_sandbox
    """Puts a command line into the sandbox, if there is one."""
    writable: tuple[Path, ...] = ()
    """Folders besides the project that the sandbox lets it write, for git."""
    key: Secret | None = None
    """The credential of a CLI that takes it over its pipe; None if the CLI logs in by itself."""
    key_file: Path | None = None
    """Holds the credential of a CLI that reads it from a file; None if the CLI logs in by itself."""


class OpenedSession(Struct, frozen=True):
    session: str
    version: str = ""
    resumed: bool = False


class Driver(Protocol):
    """One CLI's process and session. Nothing runs before `open` or after `close`."""

    name: str
    keeps_partial: bool
    """Whether its own history includes an answer that was interrupted."""

    async def open(self, place: CliSetup, resume: str | None) -> OpenedSession:
        """Start it, with a new session or an earlier one. Raises `SessionLost` if it no longer knows the session."""
        ...

    def prompt(self, text: str) -> AsyncIterator[CliEvent]:
        """The last event is `PromptEnded`; raises `CliDied` if the process ends first."""
        ...

    async def interrupt(self) -> None:
        """Stop the prompt. Returns once its `PromptEnded` is on the way, or the process has been ended."""
        ...

    async def close(self) -> None:
        """End the process and everything it has started."""
        ...

    @property
    def alive(self) -> bool: ...
