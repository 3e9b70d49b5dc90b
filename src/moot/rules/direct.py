"""Whose turn it is in direct conversations and link channels: no rounds, no slots, no cooldown.

Every message gives its receiver a turn; messages that arrive while it waits or speaks coalesce into the next
one. What bounds them are the chain caps, the pair limiter and the no-progress detector.
"""

from msgspec import structs

from moot.model.ids import ParticipantId, address
from moot.model.turn import MOST_CALLS, UNCLAIMED, Call, Duty, Rule, Turn, TurnState
from moot.rules import seats
from moot.rules.draft import Room


def deliver(room: Room, calls: list[Call], sender: str) -> None:
    """Give each receiver its turn, or let the turn it already has carry the message along."""
    for call in calls:
        turn = room.turns.get(call.agent)
        if turn is None:
            _ready(room, (call,), sender)
        elif turn.state is TurnState.RUNNING:
            room.join_turn(structs.replace(turn, calls=(*turn.calls, call)[-MOST_CALLS:]))
        else:
            turn = room.join_turn(_joined(turn, call))
            if turn.state is TurnState.HELD and call.due <= room.now:
                release(room, turn)


def _joined(turn: Turn, call: Call) -> Turn:
    """A person's message obliges; between agents silence stays a fine answer."""
    turn = turn.joined(call)
    return structs.replace(turn, duty=Duty.MUST) if call.human else turn


def _ready(room: Room, calls: tuple[Call, ...], sender: str) -> Turn:
    duty = Duty.MUST if any(call.human for call in calls) else Duty.MAY
    turn = seats.make(room, calls, duty, Rule.DIRECT)
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


def release(room: Room, turn: Turn) -> None:
    """A held turn's time has come."""
    who = room.draft.participant(turn.agent)
    if not who.present(room.now):
        seats.owe(room, turn)
    else:
        seats.to_ready(room, turn, room.settings.agent_reply_timeout)


def block(room: Room, call: Call, rule: Rule, sender: str) -> None:
    """Stored but no turn: remembered for `/continue`, and said once where a chain ends."""
    kept = tuple(c for c in room.conversation.blocked if c.agent != call.agent)
    room.put_conversation(structs.replace(room.conversation, blocked=(*kept, call)))
    if rule in (Rule.CHAIN, Rule.NO_PROGRESS):
        seats.tell_chain_end(room, call, rule, sender)


def after(room: Room, turn: Turn) -> None:
    """A turn ended: what came in beyond its interval is the next one."""
    if turn.state is TurnState.CANCELLED:
        return
    left = tuple(call for call in turn.calls if call.seq > turn.hi)
    if left and turn.agent in room.members and turn.agent not in room.turns:
        _ready(room, left, "an agent")


def resume(room: Room, stopped: Turn) -> None:
    """A turn was stopped by a message that came while its tool ran: that message is the next turn."""
    left = tuple(call for call in stopped.calls if call.seq > stopped.hi)
    if left and stopped.agent not in room.turns:
        _ready(room, left, "an agent")


def drop_agent(room: Room, agent: ParticipantId, rule: Rule, *, running: bool) -> None:
    """The agent left or was paused: its open turn goes."""
    turn = room.turns.get(agent)
    if turn is not None and (running or turn.state in UNCLAIMED):
        seats.cancel(room, turn, rule)


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
