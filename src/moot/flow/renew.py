"""Renew: the host still runs these turns. A sign of life (a chunk, a tool event) moves the deadline too."""

from typing import TypeAlias

from msgspec import Struct

from moot.flow.steps import find
from moot.model.change import Decision
from moot.model.ids import TurnId
from moot.model.moment import Moment
from moot.model.turn import TurnState
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.floor import seats

Claim: TypeAlias = tuple[TurnId, int]
"""A turn under a fence."""


class Alive(Struct, frozen=True, gc=False):
    turn: TurnId
    fence: int
    sign_of_life: float


class Renew(Struct, frozen=True, gc=False):
    turns: tuple[Alive, ...]


def scope(command: Renew) -> Scope:
    return Scope(turns=tuple(alive.turn for alive in command.turns))


def decide(command: Renew, seen: Seen, at: Moment) -> Decision[frozenset[Claim]]:
    """Answers with the claims that no longer hold; the same turn may be the caller's again under a newer one."""
    draft = Draft(seen, at)
    lost: set[Claim] = set()
    for alive in command.turns:
        turn = seen.turn(alive.turn)
        if turn is None or turn.state is not TurnState.RUNNING or turn.fence != alive.fence:
            lost.add((alive.turn, alive.fence))
            continue
        room = draft.room(find.conversation(seen, turn.conversation))
        room.put_turn(seats.alive(room, turn, alive.sign_of_life))
    return Decision(draft.changes(), frozenset(lost))
