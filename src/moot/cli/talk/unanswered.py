"""Why nobody answers a message, cause by cause, and what would change that.

Above: send, ask and chat print it, and exit with 1. Below: the why-record, which has each agent's part.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from msgspec import Struct

from moot import shapes
from moot.cli.talk.absence import to_bring_back
from moot.model.answer import Delivery
from moot.model.json import JsonObject
from moot.rules.reasons import REMOVED, failure

if TYPE_CHECKING:
    from moot.hub import Hub

BROKEN: Final = ("failed", "expired")
PAIR: Final = 2


class Cause(Struct, frozen=True):
    """One reason for silence, and the agents it holds for."""

    agents: tuple[str, ...]
    rule: str
    text: str
    fix: str = ""

    def to_dict(self) -> JsonObject:
        return {"agents": list(self.agents), "rule": self.rule, "reason": self.text, "fix": self.fix}


def was_expected(row: shapes.Because) -> bool:
    """Whether an agent should answer, or would have been asked if it were not away."""
    return row.duty != "observes" or row.rule == "away"


def nobody_will(rows: Sequence[shapes.Because]) -> bool:
    """Whether it is certain that a message gets no answer: all agents that could answer are blocked or away."""
    expected = [row for row in rows if was_expected(row)]
    return bool(expected) and all(row.duty == "blocked" or row.rule == "away" for row in expected)


async def causes(hub: Hub, why: shapes.Why, message: str) -> tuple[Cause, ...]:
    """What kept each expected agent from answering; absent agents together, since one command starts them. `message` is
    the message's name."""
    rows = [row for row in why.agents if was_expected(row)]
    causes_found = [_cause(row, message) for row in rows if row.state in BROKEN or row.duty == "blocked"]
    away: list[shapes.Agent] = []
    for row in rows:
        if row.rule == "away" and row.duty == "observes":
            agent = await hub.agents.get(row.agent)
            if agent.activity["state"] == "removed":
                causes_found.append(_cause(row, why.message))
            else:
                away.append(agent)
    return (*causes_found, await _absence(hub, away)) if away else tuple(causes_found)


def _cause(row: shapes.Because, message: str) -> Cause:
    if row.state in BROKEN:
        sentence = f"{row.agent} {failure(row.error or row.state)}"
        return Cause((row.agent,), row.rule, sentence, f"moot why {message}")
    fix = f"moot resume {row.agent}" if is_paused(row) else ""
    return Cause((row.agent,), row.rule, row.reason, fix)


def is_paused(part: shapes.Because | Delivery) -> bool:
    """Whether the agent is paused; a removed agent has the same rule."""
    return part.duty == "blocked" and part.rule == "paused" and not part.reason.endswith(REMOVED)


def several(reason: str) -> str:
    """A reason for one agent, in the plural."""
    one, _, rest = reason.partition(" ")
    return f"{ {'was': 'were', 'is': 'are'}.get(one, one) } {rest}"


async def _absence(hub: Hub, agents: Sequence[shapes.Agent]) -> Cause:
    names = [agent.name for agent in agents]
    are = "is" if len(names) == 1 else "are both" if len(names) == PAIR else "are all"
    return Cause(tuple(names), "away", f"{joined_names(names)} {are} away", await to_bring_back(hub, agents))


def joined_names(names: Iterable[str]) -> str:
    """`a`, `a and b`, `a, b and c`."""
    *others, last = names
    return f"{', '.join(others)} and {last}" if others else last
