"""How close the brakes are to biting, as the outside sees it: each number beside its limit."""

from moot.model.json import JsonObject
from moot.shapes.shape import Shape


class PairLimit(Shape, frozen=True, rename={"sender": "from"}):
    """One direction between two agents that have written to each other a moment ago."""

    sender: str
    to: str
    sent: int
    """In the last minute."""
    max_sent: int
    hold_seconds: float
    """How long the receiver would wait for a message sent now."""
    refused_seconds: float
    """How long messages are refused; 0 where they are taken."""
    reset_seconds: float
    """Of silence until the limiter starts again."""


class AgentLimit(Shape, frozen=True):
    """What an agent has used of this hour."""

    agent: str
    turns: int
    max_turns: int
    chains: int
    """Begun by itself."""
    max_chains: int
    left_seconds: float


class ChainLimit(Shape, frozen=True):
    """The newest chain of a conversation, and its round."""

    conversation: str
    """Its name, or its id where that says more."""
    id: str
    root: str
    turns: int
    max_turns: int
    depth: int
    max_depth: int
    messages: int
    max_messages: int
    alike: int
    """Of the newest agent messages, those that are short or copies."""
    max_alike: int
    round: int
    """Slots of the round that are used; a direct conversation has none."""
    max_round: int
    stopped: str | None
    """The rule that stopped it; a person can let it go on."""


class Budget(Shape, frozen=True):
    """What was spent of a budget: today, or in a conversation since it was made."""

    agent: str
    """Whose it is; empty for that of all agents together, and for that of a conversation."""
    cost_usd: float
    """By itself and by agents it has started."""
    budget_usd: float
    """With what a person has allowed besides; 0: no limit."""
    tokens: int
    budget_tokens: int
    """0: no limit."""
    turns: int
    unpriced: int
    """Turns of which nobody knows the price: they count in tokens alone."""
    is_used_up: bool
    """The next turn is not begun."""
    conversation: str = ""
    """Whose it is, where it is a conversation's."""


class BrakeReport(Shape, frozen=True):
    """Every brake that could bite soon, as far as the caller may see it."""

    settings: JsonObject
    """`[limits]` in force."""
    pairs: tuple[PairLimit, ...]
    agents: tuple[AgentLimit, ...]
    chains: tuple[ChainLimit, ...]
    budgets: tuple[Budget, ...]
