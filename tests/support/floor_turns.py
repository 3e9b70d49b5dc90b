"""What can happen to one turn in the model of the floor: asked, held, owed, cancelled."""

from __future__ import annotations

from tests.support.floor_state import Call, Round, State, Turn


def owe(turn: Turn) -> None:
    turn.state, turn.late, turn.shared = "owed", True, False


def cancel(turn: Turn, why: str) -> None:
    turn.state, turn.over = "cancelled", why


def ready(state: State, turn: Turn) -> None:
    turn.state, turn.asked_at, turn.in_large = "ready", state.now, state.is_large()


def ask(state: State, turn: Turn) -> None:
    """Its place has come: ready, held while its agent cools down, or owed where it is away."""
    round_ = state.rounds[turn.round]
    if turn.agent not in round_.asked:
        round_.asked.append(turn.agent)
    turn.asked_as = max(each.asked_as for each in state.turns) + 1
    if turn.agent not in state.up:
        owe(turn)
    elif state.is_cooling(turn.agent):
        turn.state, turn.until = "held", state.cool_at(turn.agent)
    else:
        ready(state, turn)


def owes(state: State, agent: str, call: Call) -> bool:
    """Whether the call still stands: nobody is asked about what is deleted or what it has read."""
    return not state.message(call.seq).deleted and not state.has_read(agent, call.seq)


def carry_along(state: State, turn: Turn) -> None:
    """A turn not begun reads what its agent waits in line for, and answers to that too."""
    known = [call.seq for call in turn.calls]
    turn.calls = turn.calls + [c for c in state.in_line(turn.agent) if c.seq not in known]


def add(state: State, turn: Turn) -> None:
    state.turns.append(turn)
    carry_along(state, turn)


def poll(state: State, round_: Round, agent: str, kind: str, calls: list[Call]) -> None:
    round_.places += 1
    turn = Turn(agent, round_.opener, kind, calls, round_.places + 1000)
    add(state, turn)
    ask(state, turn)


def give_up(state: State, turn: Turn) -> None:
    """Nobody comes for the turn: a must is owed; a poll or a place in the rotation is over."""
    if state.is_named(turn):
        carry_along(state, turn)
        owe(turn)
    else:
        cancel(turn, "away")
        for call in turn.calls:
            state.message(call.seq).notes.setdefault(turn.agent, "away")
