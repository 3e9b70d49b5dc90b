"""Whose turn it is in a group. A pure function of the room; every case is a row in tests/scenarios.

A human's message opens a round. Forced agents speak first, in order; then, by strategy, the others are asked
one at a time; then one reactive pass; all inside the round's slots and depth. An absent agent never holds the
floor. `advance` is called at the end of every verb and looks again at everything: there is no step that a
crash could make it forget, because what it decides from is what is stored.

Above: verbs reach it as the `Floor` of a room (floor.py). Below: rounds.py opens rounds, seats.py moves single turns.
Not here: direct conversations (direct.py), storing, waking.
"""

from collections.abc import Set
from enum import Enum, auto

from msgspec import structs

from moot.errors import Braked
from moot.model.conversation import ReplyStrategy, TurnOrder
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.participant import TAKES_TURNS, Kind, Participant
from moot.model.round import CLOSED, NoTurn, Round, RoundState
from moot.model.turn import UNCLAIMED, USES_SLOT, Call, Duty, RuleName, Turn, TurnState, silenced
from moot.rules import brakes
from moot.rules.floor import pending_calls, polls, rounds, seats
from moot.rules.floor.calls import Called
from moot.rules.floor.rounds import check_cap, halted  # noqa: F401  the Floor has them
from moot.rules.room import Room


class Progress(Enum):
    WAITS = auto()
    MOVED = auto()
    DONE = auto()


# --- handing the floor on ------------------------------------------------------------------------------


def advance(room: Room) -> None:
    """Hand the floor on until somebody has it or nothing is left to do."""
    while (round_ := current(room)) is not None:
        if holds_floor(room, round_):
            speak_beside(room, round_)
            return
        step = next_step(room, round_)
        if step is Progress.WAITS:
            return
        if step is Progress.DONE:
            close(room, room.rounds[round_.opener])


def current(room: Room) -> Round | None:
    """The running round, else the oldest queued one, started."""
    oldest: Round | None = None
    for round_ in room.rounds.values():
        if round_.state is CLOSED:
            continue
        if round_.state is RoundState.RUNNING:
            return round_
        if oldest is None or round_.opener < oldest.opener:
            oldest = round_
    if oldest is None:
        return None
    return room.put_round(structs.replace(oldest, state=RoundState.RUNNING))


HOLDING = frozenset({TurnState.READY, TurnState.HELD, TurnState.RUNNING})


def holds_floor(room: Room, round_: Round) -> bool:
    return any(
        turn.round == round_.opener and not turn.late and turn.state in HOLDING
        for turn in room.turns.values()
    )


def next_step(room: Room, round_: Round) -> Progress:
    round_ = seat_line(room, round_)
    step = serve_forced(room, round_)
    if step is not Progress.DONE:
        return step
    round_ = room.rounds[round_.opener]
    if not round_.polls or round_.pending:
        return Progress.DONE
    strategy = room.settings.reply_strategy
    if strategy is ReplyStrategy.ROUND_ROBIN:
        return ask(room, round_, polls.next_in_rotation(room, round_))
    if strategy is ReplyStrategy.MENTION_ONLY:
        return Progress.DONE
    step = ask(room, round_, polls.next_volunteer(room, round_))
    if step is not Progress.DONE or not room.settings.reactive_round:
        return step
    return ask(room, room.rounds[round_.opener], polls.next_reaction(room, room.rounds[round_.opener]))


def seat_line(room: Room, round_: Round) -> Round:
    """Give the forced agents their waiting turns, in order, as far as the slots reach."""
    if not round_.pending:
        return round_
    rest: list[Call] = []
    keeping: set[ParticipantId] = set()
    free = seats.free_slots(room, round_)
    for call in round_.pending:
        member = room.members.get(call.agent)
        if member is None:
            continue
        if member.cursor >= call.seq:
            round_ = pending_calls.noted(round_, call.agent, call.seq, Duty.OBSERVES, RuleName.SEEN)
        elif pending_calls.join_open_turn(room, call):
            continue
        elif free < 1 and call.agent not in keeping:
            rest.append(call)
            round_ = pending_calls.noted(round_, call.agent, call.seq, Duty.BLOCKED, RuleName.CAP)
        elif call.agent in room.turns:  # it still speaks: its place and its slot are kept for it
            rest.append(call)
            free -= call.agent not in keeping
            keeping.add(call.agent)
        else:
            free -= 1
            room.put_turn(made(room, round_, (call,)))
    return room.put_round(structs.replace(round_, pending=tuple(rest)))


def made(room: Room, round_: Round, calls: tuple[Call, ...]) -> Turn:
    """A turn of the round for the agent that these call."""
    return pending_calls.carrying_along(room, seats.make(room, calls, round_=round_.opener))


def serve_forced(room: Room, round_: Round) -> Progress:
    """Ready the first forced agent (in parallel: all that the round's message forced)."""
    waiting = waiting_turns(room, round_)
    if not waiting and not round_.pending:
        return Progress.DONE
    busy = [
        c.place for c in round_.pending if (t := room.turns.get(c.agent)) and t.state is TurnState.RUNNING
    ]
    if not waiting:
        return Progress.WAITS if busy else Progress.DONE
    together = speak_together(room, round_, waiting)
    if not together and busy and min(busy) < waiting[0].place:
        return Progress.WAITS
    for turn in together:
        ready(room, structs.replace(turn, shared=not round_.asked and not round_.shared_hi))
    if not together:
        ready(room, waiting[0])
    return Progress.MOVED


def speak_beside(room: Room, round_: Round) -> None:
    """parallel: a slot that came back goes at once to the next whom the round's message forced, while others still
    speak. Whom agents forced waits for all of those."""
    if room.settings.turn_order is not TurnOrder.PARALLEL:
        return
    while any(call.seq == round_.opener for call in round_.pending):
        round_ = seat_line(room, round_)
        seated = speak_together(room, round_, waiting_turns(room, round_))
        if not seated:
            return
        for turn in seated:
            ready(room, turn)
        round_ = room.rounds[round_.opener]


def waiting_turns(room: Room, round_: Round) -> list[Turn]:
    """The turns of a round that have their slot and not yet the floor, in order."""
    opener = round_.opener
    waiting = [t for t in room.turns.values() if t.round == opener and t.state is TurnState.WAITING]
    return sorted(waiting, key=lambda turn: turn.place)


def speak_together(room: Room, round_: Round, waiting: list[Turn]) -> list[Turn]:
    """parallel: those the round's message forced begin at once. The first of them share what they read; whoever gets
    a slot later reads to the head. Who was interrupted goes on in its place."""
    if room.settings.turn_order is not TurnOrder.PARALLEL:
        return []
    return [t for t in waiting if t.called_by(round_.opener) and t.place >= rounds.FIRST_PLACE]


def ask(room: Room, round_: Round, poll: "polls.Poll") -> Progress:
    """Carry out what a poll came to: ask somebody, wait for somebody, or nobody is left."""
    if poll.notes:
        notes = tuple(
            NoTurn(agent, poll.about.get(agent, round_.opener), silenced(rule), rule)
            for agent, rule in poll.notes
        )
        round_ = room.put_round(structs.replace(round_, notes=(*round_.notes, *notes)))
    if poll.waits:
        return Progress.WAITS
    if not poll.calls:
        return Progress.DONE
    turn = made(room, round_, poll.calls)
    if poll.reason is RuleName.ROUND_ROBIN:
        room.talk(pointer=turn.agent)
    elif poll.reason is RuleName.REACT:
        room.put_round(structs.replace(round_, reacted=(*round_.reacted, turn.agent)))
    else:
        room.put_round(structs.replace(round_, polled=round_.polled + 1))
    ready(room, turn)
    return Progress.MOVED


def ready(room: Room, turn: Turn) -> None:
    """Put the turn on the floor, unless cooldown, absence or a brake says otherwise."""
    round_, calls = room.rounds[turn.round], turn.calls
    cooled = brakes.cooled_at(room.members[turn.agent], room.settings.cooldown_seconds, room.now)
    turn = seats.admit(room, turn, root=round_.root, not_before=cooled, patience=seats.patience(room, turn))
    for unpaid in calls:
        if unpaid not in turn.calls:
            round_ = pending_calls.noted(round_, unpaid.agent, unpaid.seq, Duty.BLOCKED, RuleName.CHAIN)
    if turn.agent not in round_.asked:
        round_ = structs.replace(round_, asked=(*round_.asked, turn.agent))
    if turn.state is TurnState.CANCELLED:
        round_ = refused(room, round_, turn)
    room.put_round(round_)


def refused(room: Room, round_: Round, turn: Turn) -> Round:
    """A brake, a pause or absence kept the turn from being readied: write down which, and for whom."""
    rule = turn.rule or RuleName.AWAY
    newest = turn.calls[-1]
    if rule in (RuleName.CHAIN, RuleName.NO_PROGRESS):
        sender = next((u.agent for u in round_.utterances if u.seq == newest.seq), None)
        name = room.draft.name(sender) if sender else "an agent"
        seats.post_chain_end(room, newest, rule, name)
        return pending_calls.blocked(round_, newest, rule)
    return pending_calls.noted(round_, turn.agent, newest.seq, silenced(rule), rule)


def close(room: Room, round_: Round) -> None:
    """Nothing is left to do in it. What the slots did not reach is remembered for `/continue`."""
    for call in round_.pending:
        round_ = pending_calls.blocked(round_, call, RuleName.CAP)
    for agent, seq in polls.unreached(room, round_):
        round_ = pending_calls.noted(round_, agent, seq, Duty.BLOCKED, RuleName.CAP)
    if leaves_nothing(room, round_):
        room.forget_round(round_.opener)
        return
    round_ = room.put_round(structs.replace(round_, state=RoundState.CLOSED, pending=()))
    if round_.blocked:
        room.talk(stalled=round_.opener)


def leaves_nothing(room: Room, round_: Round) -> bool:
    """A round that asked nobody, in the very decision that opened it: its message's plan says it all."""
    return (
        not round_.asked
        and not round_.blocked
        and round_.opener not in room.draft.seen.rounds(room.id)
        and all(note.rule is RuleName.AWAY and note.agent not in room.here() for note in round_.notes)
    )


# --- what a message does ---------------------------------------------------------------------------------


def check_question(room: Room) -> None:
    """In a group a question is a message like others."""


def check_post_slot(room: Room, turn: Turn) -> None:
    """A post by tool in the group of one's own turn costs one more slot."""
    round_ = room.rounds[turn.round]
    unseated = {call.agent for call in round_.pending}
    if seats.free_slots(room, round_) - len(unseated) <= 0:
        raise Braked(
            f"no slot is left in this round of {room.conversation.name} for another post",
            detail="the turn's own slot is reserved for its reply",
            rule=RuleName.CAP.value,
        )
    room.put_round(structs.replace(round_, used=round_.used + 1))


def interrupted(running: list[Turn], named: Set[ParticipantId]) -> list[Turn]:
    """Of the turns whose agents let themselves be interrupted: those of agents that the message names."""
    return [turn for turn in running if turn.agent in named]


def pair_due(room: Room, author: Participant) -> float:
    """Nobody is held back for another: rounds bound what is said."""
    return 0.0


def inside(turn: Turn | None) -> Turn | None:
    """What is said in a turn of this conversation belongs to the turn's round."""
    return turn


def too_deep(room: Room, depth: int) -> bool:
    return depth > room.settings.max_depth


def opener(room: Room, author: Participant) -> int:
    """The round that the next message of this author belongs to."""
    human = author.kind not in TAKES_TURNS and author.kind is not Kind.SYSTEM
    return rounds.opener_for(room, room.conversation.next_seq, human=human)


def marked(room: Room, metadata: JsonObject, author: Participant) -> JsonObject:
    return metadata


def sent(room: Room, author: Participant, seq: int) -> None:
    """Everybody in a group reads what is said, so there are no events per pair."""


def hand_out(room: Room, message: Message, called: Called) -> None:
    rounds.hand_out(room, message, called)


# --- what happens to turns ------------------------------------------------------------------------------


def reads_to(room: Room, turn: Turn) -> tuple[int, int]:
    """How far the turn reads, and the newest human message it may take as its cause."""
    head, human = room.conversation.head, room.conversation.last_human
    if not turn.shared or turn.late:
        return head, human
    round_ = room.rounds[turn.round]
    if not round_.shared_hi:
        round_ = room.put_round(structs.replace(round_, shared_hi=head, shared_human=human))
    return round_.shared_hi, round_.shared_human


def claimed(room: Room, turn: Turn) -> None:
    """A group has no events beyond that the turn began."""


def deadline(room: Room, turn: Turn) -> float:
    """Until when a turn that begins now must give a sign, as others wait for the floor."""
    return room.now + seats.patience(room, turn)


def release(room: Room, turn: Turn, *, due: bool, present: bool) -> None:
    """A held turn's time has come, or its agent went: nobody holds the floor from afar."""
    if not present:
        unclaimed(room, turn)
    elif due:
        seats.to_ready(room, turn, seats.patience(room, turn))


def unclaimed(room: Room, turn: Turn) -> None:
    """Nobody came for it: a forced agent owes it, a poll is over."""
    polled = turn.duty is Duty.MAY or turn.reason is RuleName.ROUND_ROBIN
    if polled and not turn.named:
        _away(room, turn)
    else:
        seats.owe(room, pending_calls.carrying_along(room, turn))


def give_back(room: Room, turn: Turn, back: Turn, *, present: bool) -> None:
    """A running turn returns to where it can be claimed again, as `back`; a poll of somebody who went is over."""
    if present or turn.duty is Duty.MUST:
        back = pending_calls.carrying_along(room, back)
    if present and not turn.late:
        seats.to_ready(room, back, seats.patience(room, back))
    elif turn.duty is Duty.MAY and not turn.late:
        _away(room, turn)
    else:
        seats.owe(room, back)


def _away(room: Room, turn: Turn) -> None:
    gone = seats.cancel(room, turn, RuleName.AWAY)
    room.put_round(refused(room, room.rounds[turn.round], gone))


def resume(room: Room, stopped: Turn) -> None:
    """A turn was stopped when its tool had answered: what it had not read is pending already."""


def ended(room: Room, turn: Turn) -> None:
    """A turn of a round is over: slots, volunteers, rotation. `advance` comes after."""
    round_ = room.rounds[turn.round]
    if turn.state in USES_SLOT:
        round_ = structs.replace(round_, used=round_.used + 1)
    if turn.state is TurnState.SAID:
        if turn.reason in (RuleName.POLL, RuleName.ROUND_ROBIN):
            round_ = structs.replace(round_, volunteers=round_.volunteers + 1)
        if turn.reason is RuleName.ROUND_ROBIN and turn.hi > room.conversation.answered:
            room.talk(answered=turn.hi)
    room.put_round(round_)


def withdraw(room: Room, seq: int, before: int) -> None:
    """A message was deleted: what only it asked for is not asked any more. `before` is the newest by a person that
    stands before it."""
    seats.withdraw(room, seq)
    for round_ in list(room.rounds.values()):
        if round_.shared_human == seq:
            round_ = room.put_round(structs.replace(round_, shared_human=before))  # noqa: PLW2901
        if any(utterance.seq == seq for utterance in round_.utterances):
            heard = tuple(utterance for utterance in round_.utterances if utterance.seq != seq)
            round_ = room.put_round(structs.replace(round_, utterances=heard))  # noqa: PLW2901
        left = tuple(call for call in round_.pending if call.seq != seq)
        block = tuple(call for call in round_.blocked if call.seq != seq)
        if round_.opener == seq:
            done = RoundState.CLOSED if round_.state is RoundState.QUEUED and not left else round_.state
            room.put_round(structs.replace(round_, polls=False, state=done, pending=left, blocked=block))
        elif left != round_.pending or block != round_.blocked:
            room.put_round(structs.replace(round_, pending=left, blocked=block))


def drop_agent(room: Room, agent: ParticipantId, rule: RuleName, *, running: bool) -> None:
    """The agent left or was paused: its open turn is cancelled, its pending calls are gone."""
    turn = room.turns.get(agent)
    if turn is not None and (running or turn.state in UNCLAIMED):
        seats.cancel(room, turn, rule)
        pending_calls.explain(room, room.rounds[turn.round], turn.calls[-1], rule)
    for opener, round_ in list(room.rounds.items()):
        dropped = [call for call in round_.pending if call.agent == agent]
        if dropped:
            left = tuple(call for call in round_.pending if call.agent != agent)
            room.put_round(structs.replace(round_, pending=left))
        for call in dropped:
            pending_calls.explain(room, room.rounds[opener], call, rule)


def see_off(room: Room, agent: ParticipantId) -> None:
    """The agent leaves; should it come again it is a fresh member, whom nobody has asked."""
    drop_agent(room, agent, RuleName.AWAY, running=True)
    for round_ in list(room.rounds.values()):
        if agent in round_.asked:
            asked, reacted = [tuple(a for a in each if a != agent) for each in (round_.asked, round_.reacted)]
            room.put_round(structs.replace(round_, asked=asked, reacted=reacted))


def left(room: Room) -> None:
    """Somebody left. Where that made a large group a small one, its polls are waited for as in a small one."""
    seats.wait_longer(room)


def go_on(room: Room) -> bool:
    """`/continue`: the stalled round's counters start again and what they blocked is asked."""
    round_ = room.rounds.get(room.conversation.stalled)
    if round_ is None or not round_.blocked:
        return False
    calls = [structs.replace(call, depth=1) for call in round_.blocked]
    for call in calls:
        root = room.draft.root(call.root)
        if root is not None:
            room.draft.put_root(brakes.continued(root, room.id, call.hop))
    state = RoundState.QUEUED if round_.state is RoundState.CLOSED else round_.state
    polls_on = round_.polls and state is RoundState.RUNNING
    room.put_round(
        pending_calls.behind(structs.replace(round_, state=state, used=0, polls=polls_on, blocked=()), calls)
    )
    room.talk(stalled=0)
    return True
