"""Whose turn it is in direct conversations and link channels: no rounds, no slots, no cooldown.

Every message gives its receiver a turn; messages that arrive while it waits or speaks coalesce into the next
one. A question does not: it has a turn that ends with it, later ones wait as turns of their own, and what was said
before it is read along. What bounds them are the chain caps, the pair limiter and the no-progress detector.
"""

from msgspec import structs

from moot.model.ids import ParticipantId, address
from moot.model.turn import UNCLAIMED, Call, Rule, Turn, TurnState, remembered
from moot.rules.draft import Room
from moot.rules.floor import seats


def deliver(room: Room, calls: list[Call], sender: str) -> None:
    """Give each receiver its turn, or let the turn it already has carry the message along."""
    for call in calls:
        turn = room.turns.get(call.agent)
        if turn is None:
            _next(room, call.agent, (call,), sender)
        elif turn.called_by(call.seq):
            continue
        elif call.reason is Rule.ASK and (turn.state is TurnState.RUNNING or turn.question is not None):
            room.put_turn(seats.make(room, (call,)))
        elif turn.state is TurnState.RUNNING:
            room.join_turn(structs.replace(turn, calls=remembered((*turn.calls, call))))
        else:
            turn = room.join_turn(turn.joined(call))
            if turn.state is TurnState.HELD and call.due <= room.now:
                release(room, turn)


def _admit(room: Room, turn: Turn, sender: str) -> Turn:
    """Ready the turn as far as the rules let it. A question that they refuse ends here, and what else called its turn
    is asked without it."""
    asked = turn.question
    stop = seats.unpaid(room, turn, turn.calls[-1].root).get(asked) if asked is not None else None
    if asked is not None and stop is not None and len(turn.calls) > 1:
        seats.cancel(room, turn, stop)
        block(room, asked, stop, sender)
        turn = seats.make(room, tuple(call for call in turn.calls if call is not asked))
    calls = turn.calls
    turn = seats.admit(
        room,
        turn,
        root=calls[-1].root,
        not_before=min(call.due for call in calls),
        patience=room.settings.agent_reply_timeout,
    )
    if turn.state is TurnState.CANCELLED and turn.rule is not None:
        block(room, calls[-1], turn.rule, sender)
    return turn


def advance(room: Room) -> None:
    """Whoever has questions waiting and none on its turn is asked the next one."""
    for member in room.agents() if room.asks else ():
        agent = member.participant
        turn = room.turns.get(agent)
        if turn is None:
            _next(room, agent, ())
        elif turn.state in UNCLAIMED and turn.question is None and _first_of(room, agent) is not None:
            seats.replaced(room, turn, Rule.ASK)
            _next(room, agent, turn.calls)


def _next(room: Room, agent: ParticipantId, left: tuple[Call, ...], sender: str = "an agent") -> None:
    """The agent's next turn: the oldest question, with what else is left to be read, or that alone."""
    if agent not in room.members or agent in room.turns:
        return
    asking = any(call.reason is Rule.ASK for call in left)
    while not asking and (asked := _first_of(room, agent)) is not None:
        for call in left:
            asked = asked.joined(call)
        if _admit(room, asked, sender).state is not TurnState.CANCELLED:
            return
    if left:
        _admit(room, seats.make(room, left), sender)


def claim_hi(room: Room, turn: Turn) -> int:
    """How far the turn reads: to its question, or to the head. A person who interrupted it is heard as well, as far
    as no other question lies between."""
    asked = turn.question
    if asked is None:
        return room.conversation.head
    heard = max([asked.seq, *[call.seq for call in turn.calls if call.reason is Rule.FORCE]])
    later = _first_of(room, turn.agent)
    return heard if later is None else max(asked.seq, min(heard, later.calls[0].seq - 1))


def _first_of(room: Room, agent: ParticipantId) -> Turn | None:
    """The oldest question that waits for the agent."""
    return next(room.asks.of(agent), None)


def release(room: Room, turn: Turn) -> None:
    """A held turn's time has come."""
    who = room.draft.participant(turn.agent)
    if not who.present(room.now):
        seats.owe(room, turn)
    else:
        seats.to_ready(room, turn, room.settings.agent_reply_timeout)


def block(room: Room, call: Call, rule: Rule, sender: str) -> None:
    """Stored but no turn: remembered for `/continue`, and said once where a chain ends. Who asked a question is
    told at once, and nobody waits for that answer any more."""
    if call.reason is not Rule.ASK:
        kept = tuple(c for c in room.conversation.blocked if c.agent != call.agent)
        room.put_conversation(structs.replace(room.conversation, blocked=(*kept, call)))
    if rule in (Rule.CHAIN, Rule.NO_PROGRESS):
        seats.tell_chain_end(room, call, rule, sender)


def after(room: Room, turn: Turn) -> None:
    """A turn ended: what came in beyond its interval is the next one."""
    if turn.state is TurnState.CANCELLED:
        return
    _next(room, turn.agent, tuple(call for call in turn.calls if call.seq > turn.hi))


def resume(room: Room, stopped: Turn) -> None:
    """A turn was stopped by a message that came while its tool ran: that message and what the turn had not
    answered are the next one."""
    unread = tuple(call for call in stopped.calls if call.seq > room.members[stopped.agent].cursor)
    if unread and unread[-1].seq > stopped.hi and stopped.agent not in room.turns:
        _next(room, stopped.agent, unread)


def withdraw(room: Room, seq: int) -> None:
    """A message was deleted. A question ends with it, and who asked is told; what else called its turn is asked."""
    for turn in [*room.turns.values(), *room.asks.all()]:
        asked = turn.question
        if asked is not None and asked.seq == seq:
            cursor = room.members[turn.agent].cursor
            left = tuple(call for call in turn.calls if call is not asked and call.seq > cursor)
            if left and not turn.started_at:
                seats.replaced(room, turn, Rule.DELETED)
            else:
                seats.cancel(room, turn, Rule.DELETED)
            _next(room, turn.agent, left)
    seats.withdraw(room, seq)


def drop_agent(room: Room, agent: ParticipantId, rule: Rule, *, running: bool) -> None:
    """The agent left or was paused: its open turn goes."""
    turn = room.turns.get(agent)
    if turn is not None and (running or turn.state in UNCLAIMED):
        seats.cancel(room, turn, rule)
    for asked in list(room.asks.of(agent)):
        seats.cancel(room, asked, rule)


# --- what is told of agents that write to each other ----------------------------------------------------


def sent(room: Room, author: ParticipantId, seq: int) -> None:
    """An agent wrote to the others here: told once for each."""
    for member in room.agents():
        if member.participant != author:
            _tell(room, "agent_message.sent", author, (author, member.participant), seq)


def received(room: Room, turn: Turn) -> None:
    """An agent begins to read what other agents wrote to it."""
    others = [member.participant for member in room.agents() if member.participant != turn.agent]
    for call in turn.calls:
        if not call.human and len(others) == 1:
            _tell(room, "agent_message.received", turn.agent, (others[0], turn.agent), call.seq)


def _tell(
    room: Room, kind: str, by: ParticipantId, pair: tuple[ParticipantId, ParticipantId], seq: int
) -> None:
    body = {
        "from": pair[0],
        "to": pair[1],
        "link_id": None,
        "channel": room.id,
        "message": address(room.id, seq),
    }
    room.draft.emit(kind, room, by=by, body=body)
