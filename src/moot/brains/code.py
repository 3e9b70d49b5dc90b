"""A brain that is a function: `@agent("name")` on an `async def` that takes the turn."""

import ast
import inspect
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from typing import cast

from msgspec import Struct

from moot.brain import AgentTurn, HostedTurn, Watch
from moot.errors import BadValue
from moot.model.prompt import Offered
from moot.rules.budgets import AgentBudget, BudgetsAbove, nobody_above

Think = Callable[[HostedTurn], Awaitable[str | None]]
"""A user's function needs only what every turn has (`AgentTurn`); a model's brain also needs the rest."""
Close = Callable[[], Coroutine[object, object, None]]


async def nothing_to_close() -> None:
    """Most functions hold nothing that has to be closed."""


class CodeBrain:
    def __init__(self, think: Think, name: str = "", close: Close = nothing_to_close) -> None:
        self._think = think
        self.name = name
        self.close = close

    async def think(self, turn: AgentTurn) -> str | None:
        reply = await self._think(
            cast(HostedTurn, turn)
        )  # an agent outside the host is a function, which needs only AgentTurn
        if reply is not None and not isinstance(reply, str):
            raise TypeError(f"an agent must return text, PASS or None, not {type(reply).__name__}")
        return reply


class AgentSpec(Struct, frozen=True):
    """An agent given as code: its function and how it wants to be run."""

    name: str
    think: Think
    role: str = ""
    display: str = ""
    context_messages: int = 20
    context_tokens: int = 8000
    concurrency: int = 4
    partitions: int = 1
    on_busy: str = "queue"
    project: str | None = None
    brain: str = ""
    """A mark on its messages that says what made them (`demo/1`), visible to every reader; empty for none."""
    prompted: bool = False
    """It thinks with a model: its window moves in blocks, so that the provider's cache can hit."""
    offered: Offered = Offered()
    close: Close = nothing_to_close
    """Called when its host stops."""
    budget: AgentBudget | None = None
    """What it may spend on a day; None if its thinking costs nothing."""
    budgets_above: BudgetsAbove = nobody_above
    """The budgets of the agents that started it: it spends from them too."""
    one_at_a_time: bool = False
    """It gets one turn at a time, whatever `concurrency` says."""
    watches: tuple[str, ...] = ()
    """Of a supervisor: the agents it watches; `*` for all."""
    watch: Watch | None = None
    """Of a supervisor: called with what it is shown."""

    def __post_init__(self) -> None:
        refuse_unless_async(self.name, self.think)

    async def __call__(self, turn: HostedTurn) -> str | None:
        """The function itself, for tests of the agent alone."""
        return await self.think(turn)


def refuse_unless_async(name: str, think: object) -> None:
    """Otherwise a plain `def` would only be noticed when its first turn fails."""
    inner = inspect.unwrap(think) if callable(think) else think
    called = inner if inspect.isroutine(inner) else getattr(inner, "__call__", inner)  # noqa: B004  what is awaited
    if any(map(inspect.iscoroutinefunction, (think, inner, called))):
        return
    function = getattr(inner, "__name__", type(inner).__name__)
    if inspect.isasyncgenfunction(called):
        title, fix = (
            f"{function} is a generator, but an agent must return its text",
            ("stream with: await turn.say(part)",),
        )
    elif callable(think):
        title = f"{function} is not async, but an agent must be"
        fix = (f"async def {function}(turn): …",)
    else:
        title, fix = f"{think!r} is not a function", ("async def NAME(turn): …",)
    raise BadValue(f"agent {name}: {title}", detail=_location(inner), fix=fix)


def missing_in(source: bytes, module: str, attribute: str) -> str:
    """Why a module has no such attribute, judged by its source text; empty if it may have one. Nothing is run."""
    try:
        tree = ast.parse(source)
    except (SyntaxError, ValueError) as error:
        return f"{type(error).__name__}: {error}"
    wanted = {"*", "__getattr__", attribute}
    for node in ast.walk(tree):
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                names_bound = {name}
            case ast.Name(id=name, ctx=ast.Store()):
                names_bound = {name}
            case ast.Import(names=names) | ast.ImportFrom(names=names):
                names_bound = {item.asname or item.name.partition(".")[0] for item in names}
            case ast.Call(func=ast.Name(id="globals" | "setattr" | "exec")):
                return ""
            case _:
                continue
        if names_bound & wanted:
            return ""
    return f"module {module!r} has no attribute {attribute!r}"


def _location(function: object) -> str:
    code = getattr(function, "__code__", None)
    return f"it is defined in {code.co_filename}, line {code.co_firstlineno}" if code is not None else ""


def refuse_undecorated(agents: Sequence[object]) -> None:
    """Raise BadValue unless everything given to `Hub.open` or `Hub.connect` as `agents=` is an agent."""
    for item in agents:
        if not isinstance(item, AgentSpec):
            name = getattr(item, "__name__", repr(item))
            raise BadValue(
                f"{name} is not an agent yet",
                detail=_location(item) if callable(item) else "agents= takes functions decorated with @agent",
                fix=(f'put @agent("{name}") above it',) if callable(item) else ("agents=[…]",),
            )


def agent(  # noqa: PLR0913  each is a setting an agent may have
    name: str,
    *,
    role: str = "",
    display: str = "",
    context_messages: int = 20,
    context_tokens: int = 8000,
    concurrency: int = 4,
    partitions: int = 1,
    on_busy: str = "queue",
    project: str | None = None,
) -> Callable[[Think], AgentSpec]:
    """Make an agent of an `async def f(turn)`. What it returns is said; `PASS` or None is silence."""

    def decorate(think: Think) -> AgentSpec:
        return AgentSpec(
            name=name,
            think=think,
            role=role,
            display=display,
            context_messages=context_messages,
            context_tokens=context_tokens,
            concurrency=concurrency,
            partitions=partitions,
            on_busy=on_busy,
            project=project,
        )

    return decorate


async def never_think(turn: HostedTurn) -> str | None:
    """The function of a supervisor, which gets no turns."""
    raise AssertionError(f"{turn.agent} only watches, and was given a turn")


def supervisor(
    name: str, *, watches: Sequence[str], role: str = "", display: str = ""
) -> Callable[[Watch], AgentSpec]:
    """Make a supervisor of an `async def f(seen)`: it is called with every message that is posted, edited or deleted in
    conversations of the agents it watches (`*` for all), and never speaks."""
    if not watches or isinstance(watches, str):
        raise BadValue(
            f"supervisor {name}: watches= takes a list of names", fix=('watches=["*"] for all agents',)
        )

    def decorate(watch: Watch) -> AgentSpec:
        refuse_unless_async(name, watch)
        return AgentSpec(
            name=name, think=never_think, role=role, display=display, watches=tuple(watches), watch=watch
        )

    return decorate
