"""What an agent is doing, in the one vocabulary that every surface shows: a state, a word for it, since when.

Derived from its turns, so that there is one signal and not two that disagree. Above: shapes.py. Not here: how long ago
that was, which the reader's own clock says best.
"""

from collections.abc import Mapping, Sequence
from typing import Final

from msgspec import Struct

from moot.model.participant import Kind, Participant, Reach
from moot.model.turn import Turn, TurnState

PASSED_SECONDS: Final = 10.0
"""For how long an agent is shown as having passed."""
LABEL_LENGTH: Final = 80
STATUSES: Final[Mapping[str, str]] = {
    "offline": "offline",
    "removed": "offline",
    "thinking": "streaming",
    "tool": "streaming",
    "streaming": "streaming",
    "cooldown": "rate_limited",
    "rate_limited": "rate_limited",
    "paused": "rate_limited",
}
"""The four words of the registry; what is not here is idle."""


class Activity(Struct, frozen=True):
    state: str
    label: str
    since: float = 0.0

    @property
    def status(self) -> str:
        return STATUSES.get(self.state, "idle")


def activity(
    participant: Participant,
    open_turns: Sequence[Turn],
    last: Turn | None,
    *,
    now: float,
    speaking: bool = False,
) -> Activity:
    """`last` is the newest turn that is over; `speaking`: words of a running one have been heard.

    An agent whose host is gone works no more, although its turn has not been given back yet.
    """
    away = participant.reachable(now) is Reach.AWAY
    running = max((t for t in open_turns if t.state is TurnState.RUNNING), key=_begun, default=None)
    if participant.removed:
        return Activity("removed", "removed", participant.removed_at)
    if participant.paused:
        return Activity("paused", "paused", participant.last_active)
    if running is not None and not (participant.kind is Kind.AGENT and away):
        return working(running, speaking=speaking)
    if away or participant.only_watches:
        return _without_turns(participant, away=away)
    if open_turns:
        return _waiting(open_turns)
    return _after(last, now) or Activity(
        "idle", "idle", last.ended_at if last is not None else participant.last_active
    )


def _without_turns(participant: Participant, *, away: bool) -> Activity:
    """Of a supervisor, whom it watches tells it from an agent that has nothing to do."""
    watched = participant.config.watches
    label = f"watches {'every agent' if '*' in watched else ', '.join(watched)}" if watched else ""
    state, label = ("offline", ", ".join(filter(None, ("away", label)))) if away else ("watching", label)
    return Activity(state, label[:LABEL_LENGTH], participant.last_active)


def _begun(turn: Turn) -> float:
    return turn.started_at


def working(turn: Turn, *, speaking: bool) -> Activity:
    """What an agent does whose turn runs."""
    step = turn.open_step
    if step is not None:
        return Activity("tool", f"running {step.tool}"[:LABEL_LENGTH], step.at)
    state, label = ("streaming", "writing") if speaking else ("thinking", "thinking")
    return Activity(state, label, turn.started_at)


def _waiting(turns: Sequence[Turn]) -> Activity:
    held = min((t for t in turns if t.state is TurnState.HELD), key=lambda turn: turn.due, default=None)
    if held is not None and len(turns) == 1:
        state, label = ("cooldown", "cooling down") if held.round else ("rate_limited", "held")
        return Activity(state, label, held.created_at)
    since = min(turn.created_at for turn in turns)
    return Activity("queued", f"waiting ({len(turns)} queued)", since)


def _after(last: Turn | None, now: float) -> Activity | None:
    """What came of its last turn, for as long as that is news."""
    if last is None:
        return None
    if last.state is TurnState.PASSED and now - last.ended_at < PASSED_SECONDS:
        return Activity("passed", "passed", last.ended_at)
    if last.state in (TurnState.FAILED, TurnState.EXPIRED):
        why = last.error or (last.rule.value if last.rule else last.state.value)
        return Activity("error", f"error: {why}"[:LABEL_LENGTH], last.ended_at)
    return None
