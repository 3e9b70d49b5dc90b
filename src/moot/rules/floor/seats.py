"""What can happen to one turn: made, readied, held, owed, claimed, ended. Groups and directs share it.

Above: group.py (groups) and direct.py decide *whose* turn; here is how a turn moves and what that costs.
Below: model/turn.py refuses illegal moves, brakes.py knows the caps.
"""

from msgspec import Struct, structs

from moot.model.chain import RESERVATIONS, Root
from moot.model.event import EventType
from moot.model.hint import Act, Hint, to_data
from moot.model.ids import HostId, RootId, address
from moot.model.participant import Kind
from moot.model.round import Round
from moot.model.turn import MAX_CALLS, MOVES_CURSOR, Call, Duty, RuleName, Turn, TurnState, made_by
from moot.rules import brakes
from moot.rules.room import Notice, Room

EXTERNAL_TURN_SECONDS = 3600.0
LARGE = 5
"""Agents from which on a group counts as large."""
LOST_HOSTS = 2
"""A turn whose host dies is made ready once more; after this many lost hosts it has failed."""


class TurnCause(Struct, frozen=True, gc=False):
    """The message a turn answers, and what follows from it for what is said in the turn."""

    seq: int
    root: RootId
    hop: int
    depth: int
    human: bool


def cause(room: Room, turn: Turn, hi: int, last_human: int) -> TurnCause:
    """The newest human message of the interval, unless an agent's message gave rise to the turn."""
    lo = room.members[turn.agent].cursor
    read = [call for call in turn.calls if lo < call.seq <= hi]
    question = next((call for call in read if call.reason is RuleName.ASK), None)
    if question is not None:
        return TurnCause(
            seq=question.seq, root=question.root, hop=question.hop, depth=question.depth, human=question.human
        )
    human = last_human if lo < last_human <= hi else 0
    called = [call for call in read if not call.human and pays(room, turn, call)]
    if called and (not human or _answers_an_agent(read, called, human)):
        best = max(called, key=lambda call: (call.hop, call.seq))
        return TurnCause(seq=best.seq, root=best.root, hop=best.hop, depth=best.depth, human=False)
    if human:
        return TurnCause(seq=human, root=RootId(address(room.id, human)), hop=0, depth=1, human=True)
    newest = read[-1] if read else turn.calls[-1]
    return TurnCause(seq=newest.seq, root=newest.root, hop=newest.hop, depth=newest.depth, human=newest.human)


def _answers_an_agent(read: list[Call], called: list[Call], human: int) -> bool:
    """Whether a turn that agents and a person call answers the agents. One that a person forced answers the person,
    but for a reaction to what was said after."""
    by_person = any(call.human and call.obliges and call.reason is not RuleName.ROUND_ROBIN for call in read)
    if any(call.reason is RuleName.REACT for call in read):
        return not by_person or any(call.seq > human for call in called if call.reason is RuleName.REACT)
    return not by_person and max(call.seq for call in called) > human


def pays(room: Room, turn: Turn, call: Call) -> bool:
    """Whether the chain of a message can still pay for the turn, or has paid when an agent's message readied it."""
    paid = call.root in turn.charged and any(c.seq == turn.cause and not c.human for c in turn.calls)
    if call.human or paid:
        return True
    return brakes.chain_stop(call, room.draft.root(call.root), room.draft.at.terms.limits) is None


def unpaid(room: Room, turn: Turn, root: RootId) -> dict[Call, RuleName]:
    """Agents' messages that would be the turn's cause, but whose chain, or the round's, is at its end."""
    limits = room.draft.at.terms.limits
    after = room.members[turn.agent].cursor
    if turn.reason is not RuleName.REACT:
        after = max(after, room.conversation.last_human)
    stops: dict[Call, RuleName] = {}
    for call in turn.calls:
        stop = brakes.chain_stop(call, room.draft.root(call.root), limits)
        stop = stop or (None if call.human else brakes.root_stop(room.draft.root(root), limits))
        if stop is not None and call.seq > after:
            stops[call] = stop
    return stops


def make(room: Room, calls: tuple[Call, ...], *, round_: int = 0) -> Turn:
    """A new turn, waiting."""
    duty, reason = made_by(calls)
    return Turn(
        id=room.draft.at.turn_id(),
        agent=calls[0].agent,
        conversation=room.id,
        duty=duty,
        reason=reason,
        state=TurnState.WAITING,
        calls=calls,
        created_at=room.now,
        round=round_,
        place=calls[0].place,
    )


def stopped_by(room: Room, turn: Turn, why: TurnCause) -> RuleName | None:
    """The rule that keeps the agent from being asked, whatever the chain; a person's call passes quotas."""
    if room.draft.participant(turn.agent).gets_no_turns:
        return RuleName.PAUSED
    if why.human and turn.duty is Duty.MUST:
        return None
    limits = room.draft.at.terms.limits
    if not brakes.quota_left(room.draft.quota(turn.agent), turn.agent, room.now, limits):
        return RuleName.BUDGET
    return None


def admit(room: Room, turn: Turn, *, root: RootId, not_before: float, patience: float) -> Turn:
    """Ready the turn, or hold it until its time, or owe it to an absent agent, or cancel it by a rule."""
    stops = unpaid(room, turn, root)
    if len(stops) == len(turn.calls):
        return cancel(room, turn, next(reversed(stops.values())))
    if stops:
        turn = turn.called_only_by(tuple(call for call in turn.calls if call not in stops))
    why = cause(room, turn, room.conversation.head, room.conversation.last_human)
    stop = stopped_by(room, turn, why)
    if stop is not None:
        return cancel(room, turn, stop)
    member = room.draft.participant(turn.agent)
    present = member.present(room.now)
    if not present and turn.duty is Duty.MAY and turn.round:
        return cancel(room, turn, RuleName.AWAY)
    charged = _charge(room, turn, {root, why.root})
    turn = structs.replace(turn, charged=charged, cause=why.seq, root=why.root)
    if not present:
        return owe(room, turn)
    if not_before > room.now:
        held = turn.moved(TurnState.HELD, due=min(not_before, room.now + longest_hold(room)))
        return _emit(room, held, EventType.TURN_HELD)
    return to_ready(room, turn, patience)


def longest_hold(room: Room) -> float:
    """No turn is held for longer; what says so was set by a clock that has been set back since."""
    return max(room.settings.cooldown_seconds, room.draft.at.terms.limits.pair_backoff_max_seconds)


def to_ready(room: Room, turn: Turn, patience: float) -> Turn:
    """Claimable from now on; after so long without a claim the sweep looks again."""
    turn = _released(room, turn)
    return _emit(room, turn.moved(TurnState.READY, due=room.now + patience), EventType.TURN_READY)


def _charge(room: Room, turn: Turn, roots: set[RootId]) -> tuple[RootId, ...]:
    """Reserve the turn on the chains it belongs to and on its agent's hour."""
    for root_id in roots - set(turn.charged):
        root = room.draft.root(root_id) or Root(id=root_id)
        room.draft.put_root(structs.replace(root, turns=root.turns + 1))
    if not turn.charged:
        quota = brakes.quota_now(room.draft.quota(turn.agent), turn.agent, room.now)
        room.draft.put_quota(structs.replace(quota, turns=quota.turns + 1))
    return tuple(roots | set(turn.charged))


def _released(room: Room, turn: Turn) -> Turn:
    """The turn runs no more: what it had set aside of its budgets is free again."""
    if not turn.reserved:
        return turn
    room.draft.drop(RESERVATIONS, turn.id)
    return structs.replace(turn, reserved=False)


def _emit(room: Room, turn: Turn, event: EventType) -> Turn:
    room.put_turn(turn)
    room.draft.emit(event, room, by=turn.agent, turn=turn)
    return turn


def owe(room: Room, turn: Turn) -> Turn:
    """Its agent is away or busy: it waits beside the floor until the agent comes for it."""
    turn = _released(room, turn)
    return _emit(room, turn.moved(TurnState.OWED, late=True, due=0.0), EventType.TURN_OWED)


def cancel(room: Room, turn: Turn, rule: RuleName, *, by_holder: bool = False) -> Turn:
    """End the turn unspoken. Its interval and slot come back; a chain pays only for turns that ran. It is taken away
    from whoever has it, unless that is who ends it."""
    announced = turn.state is not TurnState.WAITING or turn.question is not None
    if not turn.started_at:
        for root_id in turn.charged:
            root = room.draft.root(root_id)
            if root is not None and root.turns > 0:
                room.draft.put_root(structs.replace(root, turns=root.turns - 1))
    turn = _released(room, turn)
    fence = turn.fence if by_holder else turn.fence + 1
    gone = turn.moved(TurnState.CANCELLED, rule=rule, due=0.0, fence=fence, ended_at=room.now)
    room.put_turn(gone)
    if announced:
        room.draft.emit(EventType.TURN_FINISHED, room, by=turn.agent, turn=gone)
    return gone


def replaced(room: Room, turn: Turn, rule: RuleName) -> None:
    """End a turn unspoken whose calls another one answers at once: that one is charged to the agent's hour instead."""
    if turn.charged:
        quota = brakes.quota_now(room.draft.quota(turn.agent), turn.agent, room.now)
        room.draft.put_quota(structs.replace(quota, turns=max(0, quota.turns - 1)))
    cancel(room, turn, rule)


def claim(room: Room, turn: Turn, host: HostId | None) -> Turn:
    """The turn begins: its interval and cause are fixed, its lease and deadline run."""
    hi, last_human = room.floor.reads_to(room, turn)
    why = cause(room, turn, hi, last_human)
    member = room.members[turn.agent]
    if member.cut:
        room.put_member(structs.replace(member, cut=False))
    now, terms = room.now, room.draft.at.terms
    external = room.draft.participant(turn.agent).kind is Kind.EXTERNAL
    lease = 0.0 if external else now + terms.lease_seconds
    limit = now + (EXTERNAL_TURN_SECONDS if external else room.settings.turn_limit_seconds)
    deadline = room.floor.deadline(room, turn)
    running = turn.moved(
        TurnState.RUNNING,
        lo=member.cursor,
        hi=hi,
        resumed=member.cut,
        cause=why.seq,
        root=why.root,
        hop=why.hop + 1,
        depth=why.depth,
        charged=_charge(room, turn, {why.root}),
        host=host,
        lease=lease,
        deadline=deadline,
        limit=limit,
        due=next_look(lease, deadline, limit, late=turn.late and external),
        fence=turn.fence + 1,
        attempt=turn.attempt + 1,
        started_at=now,
    )
    return _emit(room, running, EventType.TURN_STARTED)


def alive(room: Room, turn: Turn, sign: float) -> Turn:
    """A running turn whose host gave a sign of life: its lease runs anew, its deadline from that sign on."""
    lease = room.now + room.draft.at.terms.lease_seconds
    sign = min(sign, room.now)  # one from before a clock was set back is none of the future
    deadline = max(turn.deadline, sign + patience(room, turn)) if turn.deadline else 0.0
    due = next_look(lease, deadline, turn.limit, late=False)
    return structs.replace(turn, lease=lease, deadline=deadline, due=due)


def next_look(lease: float, deadline: float, limit: float, *, late: bool) -> float:
    """When the sweep must look at a running turn again."""
    moments = [moment for moment in (lease, 0.0 if late else deadline, limit) if moment]
    return min(moments)


def patience(room: Room, turn: Turn) -> float:
    """How long the floor waits for a sign of this turn."""
    settings = room.settings
    return settings.voluntary_timeout if _is_poll(turn) and is_large(room) else settings.agent_reply_timeout


def _is_poll(turn: Turn) -> bool:
    return turn.duty is Duty.MAY and turn.reason in (RuleName.POLL, RuleName.REACT)


def wait_longer(room: Room) -> None:
    """Somebody left. Where that made a large group a small one, its polls are waited for as in a small one."""
    if len(room.agents()) != LARGE - 1:
        return
    longer = room.settings.agent_reply_timeout - room.settings.voluntary_timeout
    latest = room.now + room.settings.agent_reply_timeout
    for turn in list(room.turns.values()):
        if not _is_poll(turn) or turn.late:
            continue
        if turn.state is TurnState.READY:
            room.put_turn(structs.replace(turn, due=min(turn.due + longer, latest)))
        elif turn.state is TurnState.RUNNING and turn.deadline:
            deadline = min(turn.deadline + longer, latest)
            due = next_look(turn.lease, deadline, turn.limit, late=False)
            room.put_turn(structs.replace(turn, deadline=deadline, due=due))


def recall(room: Room, turn: Turn, called: Turn) -> None:
    """Other messages call an open turn now. A poll that becomes a must, or the reverse, is waited for accordingly."""
    if turn.state is TurnState.READY and called.duty is not turn.duty:
        due = turn.due + patience(room, called) - patience(room, turn)
        room.put_turn(structs.replace(called, due=due))
    else:
        room.join_turn(called)


def free_slots(room: Room, round_: Round) -> int:
    """Slots neither used nor reserved; an agent that waits with a turn has one reserved."""
    return round_.cap - round_.used - sum(turn.round == round_.opener for turn in room.turns.values())


def is_large(room: Room) -> bool:
    return len(room.agents()) >= LARGE


def end(room: Room, turn: Turn, state: TurnState, *, rule: RuleName | None = None, error: str = "") -> Turn:
    """The turn is over. Its interval counts as read; what was said stands by itself."""
    turn = _released(room, turn)
    done = turn.moved(state, rule=rule, error=error, due=0.0, lease=0.0, ended_at=room.now)
    room.put_turn(done)
    room.draft.emit(EventType.TURN_FINISHED, room, by=turn.agent, turn=done)
    member = room.members[turn.agent]
    fields: dict[str, float | int] = {}
    if state in MOVES_CURSOR:
        fields["cursor"] = turn.hi
    if state is TurnState.SAID:
        fields.update(said_at=room.now, streak=0, rested=0)
    elif state is TurnState.PASSED and turn.reason is RuleName.POLL:
        fields.update(streak=member.streak + 1, rested=0)
    if fields:
        room.put_member(structs.replace(member, **fields))
    return done


def withdraw(room: Room, seq: int) -> None:
    """A message was deleted: turns owed only by it are cancelled, and a must that only it made is none any more.
    One that has forgotten calls may be owed by those."""
    for turn in [*room.turns.values(), *room.asks.all()]:
        left = tuple(call for call in turn.calls if call.seq != seq)
        if len(left) == len(turn.calls) or len(turn.calls) >= MAX_CALLS:
            continue
        if left:
            recall(room, turn, turn.called_only_by(left))
        else:
            cancel(room, turn, RuleName.DELETED)


def trouble(room: Room, turn: Turn, text: str) -> None:
    """A visible notice about a turn that ended badly."""
    room.notices.append(Notice(text, {"notice": turn.state.value, "agent": turn.agent, "turn": turn.id}))


def post_chain_end(room: Room, call: Call, rule: RuleName, sender: str) -> None:
    """Once per chain and conversation: why it stops here, between whom, and the way out."""
    root = room.draft.root(call.root) or Root(id=call.root)
    if room.id in root.noticed:
        return
    room.draft.put_root(structs.replace(root, noticed=(*root.noticed, room.id)))
    receiver = room.draft.participant(call.agent).name
    if rule is RuleName.NO_PROGRESS:
        text = f"[paused: {sender} and {receiver} keep acknowledging each other. /continue resumes them]"
    else:
        text = f"[stopped: the chain from {sender} to {receiver} reached its limit. /continue resumes it]"
    room.notices.append(Notice(text, {"notice": "brake", "rule": rule.value, "root": call.root}))
    room.draft.emit(
        EventType.BRAKE_TRIPPED,
        room,
        body={
            "rule": rule.value,
            "conversation": room.id,
            "root": call.root,
            "agents": [sender, receiver],
            "detail": text.strip("[]"),
            "fix": to_data([Hint(Act.CONTINUE_CHAIN, conversation=room.conversation.name)]),
        },
    )
