"""Where things stand: what needs somebody, who works, what is done."""

from moot.model.json import Json
from moot.shapes.decisions import PersonsDecision
from moot.shapes.limits import Budget
from moot.shapes.shape import Shape
from moot.shapes.talk import Message


class NowAgent(Shape, frozen=True):
    name: str
    state: str
    """In words: what it is doing, or `away`."""
    queue: int


class NowRow(Shape, frozen=True):
    what: str
    """Needs somebody: `question`, `unread`, `failed`, `broken`, `paused`, `away`, `left`, `worktree`, `quarantine`.
    Else `working` or `done`."""
    agent: str = ""
    conversation: str = ""
    """Its name."""
    conversation_id: str = ""
    state: str = ""
    turn: str = ""
    since: str | None = None
    at: str | None = None
    count: int = 0
    message: Message | None = None
    decision: PersonsDecision | None = None
    error: str | None = None
    fix: tuple[Json, ...] = ()
    """What can be done about it: acts as values, which each door says in its own terms, or plain texts."""


class BrakeInForce(Shape, frozen=True):
    rule: str
    conversation: str
    conversation_id: str
    agents: tuple[str, ...]
    detail: str
    seconds: float
    """Until it lets go by itself; 0 if it does not."""


class LastHour(Shape, frozen=True):
    """What happened within the last hour, in numbers."""

    messages: int
    """By people and agents, where you may read."""
    between_agents: int
    """Of these, over links."""
    refused: int
    held: int
    """Turns that are held at this moment."""
    cost_usd: float | None
    """None where no price is known."""
    parts: tuple[int, ...]
    """Messages of each five minutes, the newest last."""
    at_least: bool
    """There were more messages than are counted."""


class Now(Shape, frozen=True):
    agents: tuple[NowAgent, ...]
    needs_you: tuple[NowRow, ...]
    working: tuple[NowRow, ...]
    done: tuple[NowRow, ...]
    brakes: tuple[BrakeInForce, ...]
    budgets: tuple[Budget, ...]
    """Of today, where one is set."""
