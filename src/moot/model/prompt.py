"""What a model is given and what it gives back, whoever makes the model; and the tools it may call."""

from enum import StrEnum
from typing import Literal

from msgspec import Struct

from moot.model.json import JsonObject

PromptRole = Literal["user", "assistant"]


class Need(StrEnum):
    """What must be so for a tool to be of use to an agent; where it is not, the tool is not offered."""

    NOTHING = "nothing"
    SOMEBODY_TO_WRITE_TO = "somebody_to_write_to"
    SOMEBODY_BELOW = "somebody_below"
    """Somebody reports to it."""
    UNFINISHED_TASK = "unfinished_task"
    """One that it delegated, or works on."""


class ToolSpec(Struct, frozen=True):
    """A tool as it is described to a model."""

    name: str
    description: str
    parameters: JsonObject
    """JSON Schema of the arguments, an object."""
    idempotent: bool = False
    """Running it twice does no more than running it once: after a crash it may be run again."""
    needs: Need = Need.NOTHING


class ToolCall(Struct, frozen=True, gc=False):
    """A model asks for a tool. `arguments` is JSON as the model wrote it, which may be broken."""

    id: str
    name: str
    arguments: str


class ToolResult(Struct, frozen=True, gc=False):
    text: str
    failed: bool = False


class Offered(Struct, frozen=True):
    """What an agent may do beside speaking."""

    tools: tuple[ToolSpec, ...] = ()
    off: tuple[str, ...] = ()
    """Why a tool that is set for it is off, a sentence each."""
    text_form: bool = False
    """It may call tools in its text, for models that know no other way."""


class PromptLine(Struct, frozen=True):
    """One entry of the message list. `calls` follow an assistant's text; `answers` names the call a result is for."""

    role: PromptRole
    content: str
    calls: tuple[ToolCall, ...] = ()
    answers: str = ""


class Prompt(Struct, frozen=True):
    """Everything a model is given for one answer."""

    system: str
    lines: tuple[PromptLine, ...]
    tools: tuple[ToolSpec, ...] = ()
    stable: int = 0
    """So many lines from the start come again unchanged in the next turn: worth a provider's cache."""


class Usage(Struct, frozen=True, gc=False, omit_defaults=True):
    """What answers cost. `cached_tokens` and `written_tokens` are parts of `input_tokens`."""

    input_tokens: int = 0
    output_tokens: int = 0
    cached_tokens: int = 0
    """Read from the provider's cache."""
    written_tokens: int = 0
    """Written into the provider's cache."""
    cost_usd: float | None = None
    """None where the price of the model is not known."""
    calls: int = 0
    """Answers asked for, retries included."""
    model: str = ""

    def plus(self, other: "Usage") -> "Usage":
        costs = [cost for cost in (self.cost_usd, other.cost_usd) if cost is not None]
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
            cached_tokens=self.cached_tokens + other.cached_tokens,
            written_tokens=self.written_tokens + other.written_tokens,
            cost_usd=sum(costs) if costs else None,
            calls=self.calls + other.calls,
            model=other.model or self.model,
        )


class ModelAnswer(Struct, frozen=True):
    """A model's whole answer: its text, the tools it asks for, and what it cost."""

    text: str
    calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    cut: bool = False
    """The provider stopped it at the limit of output tokens."""
