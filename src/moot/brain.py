"""Who thinks, what it may call, and the turn that both are handed.

Above: brains/ and tools/ implement them, host/ runs them; host/agent_turn.py has the turn. Below: values only.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Any, Protocol

from msgspec import Struct

from moot import shapes
from moot.model.json import JsonObject
from moot.model.prompt import Prompt, ToolCall, ToolResult, ToolSpec, Usage
from moot.model.records.cli_session import CliSession
from moot.model.turn import Step


class AgentTurn(Protocol):
    """A turn as every agent sees it, wherever it runs (INTERFACES): what it reads, and how it answers."""

    @property
    def id(self) -> str: ...
    @property
    def agent(self) -> str:
        """The agent's own name."""
        ...

    @property
    def conversation(self) -> shapes.Conversation: ...
    @property
    def must_answer(self) -> bool:
        """Silence is no answer to this one."""
        ...

    @property
    def reason(self) -> str:
        """Why it was asked: `mention`, `direct`, `poll` …"""
        ...

    @property
    def deadline(self) -> float | None: ...
    @property
    def text(self) -> str:
        """Of the message that owed this turn."""
        ...

    @property
    def trigger(self) -> shapes.Message:
        """The newest message that owed this turn."""
        ...

    @property
    def new(self) -> Sequence[shapes.Message]:
        """By others, since this agent's last turn here."""
        ...

    @property
    def messages(self) -> Sequence[shapes.Heard]:
        """The window."""
        ...

    @property
    def hub(self) -> Any:
        """The hub (hub/hub.py or, in another process, client/hub.py) with this agent's voice."""
        ...

    @property
    def said(self) -> str:
        """What was streamed so far."""
        ...

    async def say(self, chunk: str) -> None:
        """Stream a piece of the reply."""
        ...


class HostedTurn(AgentTurn, Protocol):
    """The same for a brain that a host of ours runs: with what a model is given, and the tools it uses."""

    @property
    def role(self) -> str: ...
    @property
    def seconds_left(self) -> float:
        """Until the turn is over whatever happens."""
        ...

    @property
    def steps(self) -> Sequence[Step]:
        """Tool calls of this turn so far, those before a crash included."""
        ...

    async def prompt(self) -> Prompt:
        """What a model is given for this turn, with the tools used in it so far."""
        ...

    def begin_answer(self) -> None:
        """A model begins another answer: what it streamed before the last tool call was not the reply."""
        ...

    def spend(self, usage: Usage) -> None: ...
    async def use(self, tool: "Tool | None", call: ToolCall, *, answer: int, said: str) -> ToolResult:
        """Call a tool: stored before it runs and after."""
        ...

    async def run_step(self, tool: "Tool | None", step: Step) -> ToolResult:
        """Run a tool whose call is stored, and store its result."""
        ...


class CliHostedTurn(HostedTurn, Protocol):
    """The same for a brain that is a program with tools and a memory of its own."""

    @property
    def closing(self) -> str:
        """What is new, whose turn it is, and whether silence is a fine answer."""
        ...

    @property
    def reads_to(self) -> int:
        """seq of the newest message of this turn."""
        ...

    async def begin_step(self, call: ToolCall, *, said: str = "", idempotent: bool = False) -> Step:
        """A tool begins to run: stored first. While it runs the turn is not interrupted."""
        ...

    async def end_step(self, step: Step, result: ToolResult) -> None:
        """Store its result."""
        ...

    async def is_stopping(self) -> bool:
        """Somebody interrupts this turn, and waits for the tool that runs."""
        ...

    def wait_for(self, what: str) -> None:
        """Show everybody that the turn waits for something; empty when it goes on."""
        ...

    async def session(self) -> CliSession | None:
        """What the program called its session with this agent here."""
        ...

    def new_session(self, driver: str, session: str, project: str, version: str) -> CliSession:
        """A row for a session that the program has confirmed."""
        ...

    async def keep_session(self, session: CliSession | None) -> None:
        """From now on this is its session; None forgets it."""
        ...

    async def charge_late(self, usage: Usage) -> None:
        """What a turn cost that was interrupted, and is over."""
        ...


class Brain(Protocol):
    """Who thinks. The answer is the reply; `[PASS]`, or nothing where nothing was streamed, is silence."""

    name: str
    """Told to everybody with every message it makes, as `metadata.brain`; empty where it needs no mark. Never which
    model it is, or where: that is the owner's to know."""

    async def think(self, turn: HostedTurn) -> str | None: ...
    async def close(self) -> None:
        """Let go of connections; no more turns come."""
        ...


class WatchedMessage(Struct, frozen=True):
    """What a supervisor is shown."""

    agent: str
    """The supervisor's own name."""
    action: str
    """What became of the message: `posted`, `edited`, `deleted`."""
    conversation: shapes.Conversation
    message: shapes.Message
    """As it is now: what was edited since reads as edited."""


Watch = Callable[[WatchedMessage], Awaitable[None]]
"""The function of a supervisor."""


class Tool(Protocol):
    """Something a brain may call. Refusals and failures are results, told to the model; only bugs raise."""

    spec: ToolSpec

    async def run(self, arguments: JsonObject, turn: HostedTurn) -> ToolResult: ...
