"""Who is asked although nobody named them, in the model of the floor: volunteers, the rotation, reactions."""

from __future__ import annotations

from tests.support.floor_state import Call, Message, Round, State
from tests.support.floor_turns import poll


def polls_now(state: State, round_: Round) -> bool:
    return round_.polls and not state.message(round_.opener).deleted


def ask_voluntary(state: State, round_: Round) -> bool:
    """The next of the others, in member order: those in cooldown after the rest, those away not at all. At the place of
    one who still speaks beside the floor all wait."""
    if state.rules.reply_strategy != "hybrid" or not polls_now(state, round_) or spent(state, round_):
        return False
    opener = state.message(round_.opener)
    cooling: list[str] = []
    for agent in [agent for agent in state.names() if is_unasked(state, round_, agent)]:
        turn = state.open_turn(agent)
        if turn is not None and turn.state == "running":
            break
        if agent not in state.up or agent in state.paused or turn is not None:
            round_.passed_over.add(agent)
            opener.notes.setdefault(agent, "paused" if agent in state.paused else "away")
        elif sits_out(state, round_, agent):
            continue
        elif state.is_cooling(agent):
            cooling.append(agent)
        else:
            return volunteer(state, round_, agent)
    return volunteer(state, round_, cooling[0]) if cooling else False


def volunteer(state: State, round_: Round, agent: str) -> bool:
    round_.polled += 1
    state.member(agent).rested = 0
    poll(state, round_, agent, "poll", [Call(round_.opener, "poll")])
    return True


def spent(state: State, round_: Round) -> bool:
    """Whether one of the limits ends the polls."""
    rules = state.rules
    too_many = state.is_large() and round_.polled >= rules.max_voluntary_polls
    return state.free_slots(round_) <= 0 or round_.volunteers >= rules.max_voluntary_responders or too_many


def is_unasked(state: State, round_: Round, agent: str) -> bool:
    """Neither asked in the round nor passed over, and it has not read the round's message."""
    opener = state.message(round_.opener)
    if agent in round_.asked or agent in round_.passed_over or agent == opener.author:
        return False
    turn = state.open_turn(agent)
    asked = turn is not None and opener.seq in [call.seq for call in turn.calls]
    return not asked and not state.has_read(agent, opener.seq)


def sits_out(state: State, round_: Round, agent: str) -> bool:
    """In large groups, who keeps passing is asked every second round, later every fourth."""
    member = state.member(agent)
    if not state.is_large() or member.streak < 3:
        return False
    if member.rested >= (1 if member.streak < 6 else 3):
        return False
    member.rested += 1
    round_.passed_over.add(agent)
    state.message(round_.opener).notes.setdefault(agent, "rest")
    return True


def volunteers_wait(state: State, round_: Round) -> bool:
    """One who still speaks beside the floor is to be polled: the floor waits at its place."""
    if not polls_now(state, round_) or state.rules.reply_strategy != "hybrid" or spent(state, round_):
        return False
    return any(is_unasked(state, round_, turn.agent) for turn in state.turns if turn.state == "running")


def rotates(state: State, round_: Round) -> bool:
    """Whether the rotation has yet to answer the round's message."""
    if state.rules.reply_strategy != "round_robin" or not polls_now(state, round_) or round_.named:
        return False
    return state.answered < round_.opener


def rotation_waits(state: State, round_: Round) -> bool:
    """Its next one still speaks beside the floor: it waits at that place."""
    if not rotates(state, round_) or state.free_slots(round_) <= 0:
        return False
    return any(is_unasked(state, round_, turn.agent) for turn in state.turns if turn.state == "running")


def ask_rotation(state: State, round_: Round) -> bool:
    """round_robin: the next present member after the pointer, at most once around."""
    if not rotates(state, round_) or state.free_slots(round_) <= 0:
        return False
    opener = state.message(round_.opener)
    for agent in after(state.names(), state.pointer):
        turn = state.open_turn(agent)
        if not is_unasked(state, round_, agent):
            continue
        if turn is not None and turn.state == "running":
            return False
        if agent in state.paused or agent not in state.up or turn is not None:
            round_.passed_over.add(agent)
            opener.notes.setdefault(agent, "paused" if agent in state.paused else "away")
        else:
            state.pointer = agent
            poll(state, round_, agent, "rotation", [Call(round_.opener, "round_robin")])
            return True
    return False


def after(names: list[str], pointer: str) -> list[str]:
    at = names.index(pointer) + 1 if pointer in names else 0
    return names[at:] + names[:at]


def ask_reactive(state: State, round_: Round) -> bool:
    """Once more those who were asked and have not read what another agent said since, in the order they were asked."""
    if not reacts(state, round_) or state.free_slots(round_) <= 0:
        return False
    cooling: list[str] = []
    for agent in round_.asked:
        owed, turn = due_reaction(state, round_, agent), state.open_turn(agent)
        if not owed:
            continue
        if turn is not None and turn.state == "running":
            break
        if agent not in state.up or agent in state.paused or turn is not None:
            round_.missed.add((agent, owed[-1].seq))
        elif state.is_cooling(agent):
            cooling.append(agent)
        else:
            return react(state, round_, agent)
    return react(state, round_, cooling[0]) if cooling else False


def reacts(state: State, round_: Round) -> bool:
    rules = state.rules
    return rules.reply_strategy == "hybrid" and rules.reactive_round and polls_now(state, round_)


def due_reaction(state: State, round_: Round, agent: str) -> list[Message]:
    """What others have said that it could react to."""
    if agent in round_.reacted:
        return []
    owed = [m for m in state.unseen(round_, agent) if m.depth < state.rules.max_depth]
    return [] if owed and (agent, owed[-1].seq) in round_.missed else owed


def react(state: State, round_: Round, agent: str) -> bool:
    calls = [Call(m.seq, "react") for m in due_reaction(state, round_, agent)]
    round_.reacted.add(agent)
    poll(state, round_, agent, "react", calls)
    return True


def reaction_waits(state: State, round_: Round) -> bool:
    """One who is to react still speaks beside the floor: it waits at that place."""
    if not reacts(state, round_) or state.free_slots(round_) <= 0:
        return False
    running = [turn.agent for turn in state.turns if turn.state == "running"]
    return any(due_reaction(state, round_, agent) for agent in round_.asked if agent in running)
