"""A round's line: who was forced and waits for a slot, and what was noted of those who get no turn.

Above: floor.py seats the line as far as the slots reach. Below: the room. Not here: whose turn it is.
"""

from msgspec import structs

from moot.model.ids import ParticipantId
from moot.model.round import Note, Round
from moot.model.turn import UNCLAIMED, Call, Duty, Rule, Turn, silenced
from moot.rules.draft import Room


def behind(round_: Round, calls: list[Call]) -> Round:
    """The round with more forced agents, behind those already in line."""
    placed = tuple(structs.replace(call, place=n) for n, call in enumerate(calls, round_.places + 1))
    return structs.replace(round_, line=(*round_.line, *placed), places=round_.places + len(calls))


def join_open_turn(room: Room, call: Call) -> bool:
    """A turn not yet begun carries later messages along; a forcing one makes it a must."""
    turn = room.turns.get(call.agent)
    if turn is None or not will_read(room, turn, call.seq):
        return False
    joined = turn.joined(call)
    if joined is not turn:
        room.join_turn(joined)
    return True


def will_read(room: Room, turn: Turn, seq: int) -> bool:
    """Whether a turn not yet begun will reach a message: in parallel it may end where the others ended."""
    if turn.state not in UNCLAIMED:
        return False
    if not turn.shared or turn.late:
        return True
    shared_hi = room.rounds[turn.round].shared_hi
    return not shared_hi or seq <= shared_hi


def blocked(round_: Round, call: Call, rule: Rule) -> Round:
    """The call gets no turn; it is remembered for `/continue`, and why is written down."""
    kept = tuple(c for c in round_.blocked if c.agent != call.agent)
    return noted(structs.replace(round_, blocked=(*kept, call)), call.agent, call.seq, Duty.BLOCKED, rule)


def explain(room: Room, round_: Round, call: Call, rule: Rule) -> None:
    """Write down why a call comes to nothing, where `why` will look for it: in the round of its message."""
    home = room.rounds.get(call.seq, round_)
    room.put_round(noted(home, call.agent, call.seq, silenced(rule), rule))


def noted(round_: Round, agent: ParticipantId, seq: int, duty: Duty, rule: Rule) -> Round:
    note = Note(agent=agent, seq=seq, duty=duty, rule=rule)
    if note in round_.notes:
        return round_
    kept = tuple(n for n in round_.notes if n.agent != agent or n.seq != seq)
    return structs.replace(round_, notes=(*kept, note))
