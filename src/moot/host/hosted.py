"""What a host runs: its agents, and their turns."""

import asyncio

from msgspec import Struct

from moot.brain import Brain
from moot.context.window import Size
from moot.host.agent_turn import Speaking
from moot.model.ids import TurnId
from moot.model.json import JsonObject
from moot.model.participant import Participant
from moot.model.prompt import Offered
from moot.model.turn import Turn, TurnState
from moot.rules.activity import Activity, working
from moot.rules.budgets import AgentBudget, BudgetsAbove, nobody_above

MAX_HEARD_TURNS = 1024


class Hosted(Struct, frozen=True):
    """An agent this host runs."""

    participant: Participant
    brain: Brain
    size: Size
    concurrency: int = 4
    partitions: int = 1
    offered: Offered = Offered()
    budget: AgentBudget | None = None
    """None for an agent whose thinking costs nothing."""
    budgets_above: BudgetsAbove = nobody_above


def overtakes(heard: Turn, begun: Turn) -> bool:
    """Whether what is heard of a turn ends a run of it: it was stopped, or claimed again, or its time is over."""
    return heard.fence > begun.fence or (heard.fence == begun.fence and heard.state is TurnState.EXPIRED)


class HeardTurns:
    """What was heard last of turns. A stop may be heard before the claim that it follows is answered: both may be in
    one commit."""

    def __init__(self) -> None:
        self._turns: dict[TurnId, Turn] = {}

    def note(self, turn: Turn) -> None:
        self._turns.pop(turn.id, None)
        self._turns[turn.id] = turn
        if len(self._turns) > MAX_HEARD_TURNS:
            del self._turns[next(iter(self._turns))]

    def is_over(self, claimed: Turn) -> bool:
        heard = self._turns.get(claimed.id)
        return heard is not None and overtakes(heard, claimed)


class Running:
    """A running turn under the fence of its claim; nothing here applies to a later claim of the same turn."""

    task: "asyncio.Task[None]"

    def __init__(self, turn: Turn, hosted: Hosted) -> None:
        self.turn = turn
        self.hosted = hosted
        self.speaking: Speaking | None = None
        self.sign_of_life = turn.started_at
        self.renewed = turn.started_at

    def begin(self, speaking: Speaking) -> None:
        speaking.charged_above = tuple(self.hosted.budgets_above())
        self.speaking = speaking

    @property
    def said(self) -> str:
        return self.speaking.said if self.speaking is not None else ""

    @property
    def spent(self) -> JsonObject | None:
        return self.speaking.spent if self.speaking is not None else None

    @property
    def doing(self) -> Activity:
        if self.speaking is None:
            return working(self.turn, speaking=False)
        if self.speaking.waits_for:
            return Activity("queued", f"waiting for {self.speaking.waits_for}", self.speaking.waits_since)
        return working(self.speaking.turn, speaking=bool(self.speaking.said))


async def wait_for_end(tasks: "list[asyncio.Task[None]]", hurried: asyncio.Event, seconds: float) -> None:
    """Wait until all have ended, `hurried` is set, or the time is over."""
    hurry = asyncio.ensure_future(hurried.wait())
    ended = asyncio.ensure_future(asyncio.wait(tasks))
    try:
        await asyncio.wait((ended, hurry), timeout=seconds, return_when=asyncio.FIRST_COMPLETED)
    finally:
        for waiter in (ended, hurry):
            waiter.cancel()
