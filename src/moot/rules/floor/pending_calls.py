"""A round's pending calls: who was forced and waits for a slot, and what was noted of those who get no turn.

Above: group.py seats them as far as the slots reach. Below: seats.py and the room. Not here: whose turn it is.
"""

from collections.abc import Sequence

from msgspec import structs

from moot.model.ids import ParticipantId
from moot.model.round import NoTurn, Round, RoundState
from moot.model.turn import UNCLAIMED, Call, Duty, RuleName, Turn, silenced
from moot.rules.floor import seats
from moot.rules.room import Room


def behind(round_: Round, calls: list[Call]) -> Round:
    """The round with more forced agents, behind those who wait already."""
    placed = tuple(structs.replace(call, place=n) for n, call in enumerate(calls, round_.places + 1))
    return structs.replace(round_, pending=(*round_.pending, *placed), places=round_.places + len(calls))


def join_open_turn(room: Room, call: Call) -> bool:
    """A turn not yet begun carries later messages along; a forcing one makes it a must."""
    turn = room.turns.get(call.agent)
    if turn is None or not will_read(room, turn, call.seq):
        return False
    joined = turn.joined(call)
    if joined is not turn:
        seats.recall(room, turn, joined)
    return True


def will_read(room: Room, turn: Turn, seq: int) -> bool:
    """Whether a turn not yet begun will reach a message: in parallel it may end where the others ended."""
    if turn.state not in UNCLAIMED:
        return False
    if not turn.shared or turn.late:
        return True
    shared_hi = room.rounds[turn.round].shared_hi
    return not shared_hi or seq <= shared_hi


def carrying_along(room: Room, turn: Turn) -> Turn:
    """A turn not begun, or given back, will read what queued messages want of the same agent, and so answers to them
    too."""
    for later in later_calls(room, turn.agent):
        turn = turn.joined(later)
    return turn


def later_calls(room: Room, agent: ParticipantId) -> list[Call]:
    """Messages that force the agent, wait for it, and that it has not read."""
    cursor = room.members[agent].cursor
    return [
        call
        for other in room.rounds.values()
        if other.state is not RoundState.CLOSED
        for call in _forcing(room, other)
        if call.agent == agent and call.seq > cursor
    ]


def _forcing(room: Room, round_: Round) -> Sequence[Call]:
    """The pending calls of a round. In one that opens again the first ones have its slots, as far as they go:
    the others are blocked, and a block forces nobody."""
    if round_.state is RoundState.RUNNING or not round_.asked:
        return round_.pending
    unread = [call for call in round_.pending if _is_unserved(room, call)]
    agents = list(dict.fromkeys(call.agent for call in unread))
    reached = agents[: max(0, seats.free_slots(room, round_))]
    return [call for call in unread if call.agent in reached]


def _is_unserved(room: Room, call: Call) -> bool:
    """Whether no turn of the agent has read the message, nor will as one that it calls."""
    member, turn = room.members.get(call.agent), room.turns.get(call.agent)
    return member is not None and member.cursor < call.seq and not (turn and turn.called_by(call.seq))


def blocked(round_: Round, call: Call, rule: RuleName) -> Round:
    """The call gets no turn: remembered for `/continue`, and the reason noted for `why`."""
    kept = tuple(c for c in round_.blocked if c.agent != call.agent)
    return noted(structs.replace(round_, blocked=(*kept, call)), call.agent, call.seq, Duty.BLOCKED, rule)


def explain(room: Room, round_: Round, call: Call, rule: RuleName) -> None:
    """Write down why a call comes to nothing, where `why` will look for it: in the round of its message."""
    home = room.rounds.get(call.seq, round_)
    room.put_round(noted(home, call.agent, call.seq, silenced(rule), rule))


def noted(round_: Round, agent: ParticipantId, seq: int, duty: Duty, rule: RuleName) -> Round:
    note = NoTurn(agent=agent, seq=seq, duty=duty, rule=rule)
    if note in round_.notes:
        return round_
    kept = tuple(n for n in round_.notes if n.agent != agent or n.seq != seq)
    return structs.replace(round_, notes=(*kept, note))
