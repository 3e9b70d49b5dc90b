"""Who is asked next: the steps of FLOOR part 3, one at a time, until nothing moves any more."""

from __future__ import annotations

from tests.support.floor_polls import (
    ask_reactive,
    ask_rotation,
    ask_voluntary,
    is_unasked,
    polls_now,
    reaction_waits,
    rotation_waits,
    volunteers_wait,
)
from tests.support.floor_state import UNCLAIMED, Call, Entry, Round, State, Turn
from tests.support.floor_turns import add, ask, cancel, give_up, owes, ready

KINDS = {"poll": "poll", "react": "react", "round_robin": "rotation"}
"""The kind of a turn that is asked for again after an interruption; all others were named."""


def plan(state: State) -> None:
    """Everything that follows at once from what has happened."""
    while one_step(state):
        pass


def one_step(state: State) -> bool:
    for round_ in state.rounds.values():
        if round_ is not state.current:
            mark_capped(state, round_)
    if retire(state):
        return True
    return open_next(state) if state.current is None else go_on(state, state.current)


def go_on(state: State, round_: Round) -> bool:
    """Forced ones first, then the others; when nobody is left, and nobody waited for, the round is over."""
    if line_up(state, round_) or ask_named(state, round_):
        return True
    if state.holders(round_) or waits_for_somebody(state, round_):
        return False
    if ask_others(state, round_):
        return True
    if volunteers_wait(state, round_) or rotation_waits(state, round_) or reaction_waits(state, round_):
        return False
    close(state, round_)
    return True


def ask_others(state: State, round_: Round) -> bool:
    """Those nobody named: volunteers or the rotation, and then reactions."""
    if ask_voluntary(state, round_) or ask_rotation(state, round_):
        return True
    return not volunteers_wait(state, round_) and ask_reactive(state, round_)


# --- absence, deletion, cooldown ---------------------------------------------------------------------------


def retire(state: State) -> bool:
    """Turns that cannot stay as they are: owed by nothing that stands, without a host, or at the end of a hold."""
    for turn in state.open_turns():
        if not state.calls_on(turn):
            cancel(turn, "deleted")
            return True
        if turn.state in ("ready", "held") and turn.agent not in state.up:
            give_up(state, turn)
            return True
        if turn.state == "held" and turn.until <= state.now:
            ready(state, turn)
            return True
    return False


# --- rounds --------------------------------------------------------------------------------------------------


def open_next(state: State) -> bool:
    """The next round of the queue; its message names those in its line."""
    if not state.queue:
        return False
    round_ = state.rounds[state.queue.pop(0)]
    state.current = round_
    if round_.state == "queued":
        name(state, round_, round_.opener, at_once=True)
    round_.state = "running"
    return True


def close(state: State, round_: Round) -> None:
    """Nothing is left to do: for whom there was no slot there is none any more."""
    for entry in round_.line:
        for call in entry.calls:
            state.message(call.seq).notes[entry.agent] = "cap"
    if state.rules.reply_strategy == "hybrid" and polls_now(state, round_):
        for agent in [agent for agent in state.names() if is_unasked(state, round_, agent)]:
            turn = state.open_turn(agent)
            if turn is None or turn.state != "running" or turn.hi < round_.opener:
                state.message(round_.opener).notes.setdefault(agent, "cap")
    round_.line = []
    round_.state = "closed"
    state.current = None


def reopen(state: State, round_: Round) -> None:
    """For those in its line alone, after the running one."""
    round_.polls = False
    reopened = [n for n in state.queue if state.rounds[n].state == "closed"]
    state.queue.insert(len(reopened), round_.opener)


def name(state: State, round_: Round, seq: int, at_once: bool = False) -> None:
    """A message forces those it names, behind those already forced."""
    message = state.message(seq)
    for agent, reason in message.forces.items():
        if not state.is_member(agent) or agent == message.author or state.has_read(agent, seq):
            continue
        turn = state.open_turn(agent)
        speaks_to_it = turn is not None and seq in [call.seq for call in turn.calls]
        if agent in state.paused and not speaks_to_it:
            message.notes[agent] = "paused"
            if seq == round_.opener:
                round_.passed_over.add(agent)
        else:
            enter(round_, agent, [Call(seq, reason)], at_once)
            join_unclaimed(state, round_)


def enter(round_: Round, agent: str, calls: list[Call], at_once: bool = False, first: bool = False) -> None:
    """Give the agent a place in line."""
    if first:
        place = round_.first_place
        round_.first_place += 1
    else:
        round_.places += 1
        place = round_.places + 1000
    round_.line.append(Entry(agent, calls, place, at_once))


def in_order(round_: Round) -> list[Entry]:
    return sorted(round_.line, key=lambda entry: entry.place)


def line_up(state: State, round_: Round) -> bool:
    """Those in line get a turn, in order, as long as there are slots; who has an unclaimed turn needs none."""
    for entry in in_order(round_):
        entry.calls = [c for c in entry.calls if owes(state, entry.agent, c)]
        if not entry.calls:
            round_.line.remove(entry)
    for entry in in_order(round_):
        if will_read(state, state.open_turn(entry.agent), entry):
            join(state, round_, entry)
            return True
    mark_capped(state, round_)
    waits_for_all = state.rules.turn_order == "parallel" and bool(state.holders(round_))
    for entry in in_order(round_):
        if entry.capped or state.open_turn(entry.agent) or (waits_for_all and not entry.at_once):
            continue
        kind = KINDS.get(entry.calls[0].reason, "named")
        made = Turn(entry.agent, round_.opener, kind, entry.calls, entry.place, at_once=entry.at_once)
        made.shared = entry.at_once and state.rules.turn_order == "parallel" and not round_.asked
        made.shared = made.shared and not round_.shared_hi
        round_.line.remove(entry)
        add(state, made)
        return True
    return False


def mark_capped(state: State, round_: Round) -> None:
    """For whom there is a slot, and for whom there is none."""
    free = state.free_slots(round_)
    kept: set[str] = set()
    for entry in in_order(round_):
        if round_ is not state.current and is_served(state, entry):
            continue
        entry.capped = free <= 0 and entry.agent not in kept
        if not entry.capped and entry.agent not in kept:
            kept.add(entry.agent)
            free -= 1


def will_read(state: State, turn: Turn | None, entry: Entry) -> bool:
    """Whether the agent has a turn to come that reads all it is named by."""
    return turn is not None and turn.state in UNCLAIMED and entry.calls[-1].seq <= state.reach(turn)


def join(state: State, round_: Round, entry: Entry) -> None:
    """The agent's turn answers to what the entry stands for, which needs no place of its own any more."""
    turn = state.open_turn(entry.agent)
    assert turn is not None
    known = [call.seq for call in turn.calls]
    turn.calls = turn.calls + [call for call in entry.calls if call.seq not in known]
    round_.line.remove(entry)


def join_unclaimed(state: State, round_: Round) -> None:
    """Whoever was named just now and has a turn to come needs no other."""
    newest = round_.line[-1]
    if will_read(state, state.open_turn(newest.agent), newest):
        join(state, round_, newest)


def is_served(state: State, entry: Entry) -> bool:
    """Whether turns have read, or will read, all that the entry stands for."""
    turn = state.open_turn(entry.agent)
    called = [call.seq for call in turn.calls] if turn is not None else []
    return all(call.seq in called or not owes(state, entry.agent, call) for call in entry.calls)


# --- forced --------------------------------------------------------------------------------------------------


def busy_entries(round_: Round) -> list[Entry]:
    """Those with a slot whose agent still speaks: the floor waits at their place."""
    return [entry for entry in round_.line if not entry.capped]


def waits_for_somebody(state: State, round_: Round) -> bool:
    """Somebody named in the round has yet to be asked, or speaks beside the floor: it waits at that place."""
    turns = [state.open_turn(entry.agent) for entry in round_.line]
    if any(turn is not None and turn.state == "running" for turn in turns):
        return True
    waiting = [t for t in state.open_turns() if t.round == round_.opener and t.state == "waiting"]
    return bool(waiting or busy_entries(round_))


def ask_named(state: State, round_: Round) -> bool:
    """The next of those who must speak; in a parallel group all whom the round's message named."""
    waiting = [t for t in state.open_turns() if t.round == round_.opener and t.state == "waiting"]
    waiting.sort(key=lambda turn: turn.place)
    if state.rules.turn_order == "parallel":
        for turn in waiting:
            if turn.at_once:
                ask(state, turn)
                return True
    if not waiting or state.holders(round_):
        return False
    if any(entry.place < waiting[0].place for entry in busy_entries(round_)):
        return False
    ask(state, waiting[0])
    return True
