"""Whose turn it is in direct conversations and link channels: no rounds, no slots, no cooldown.

Every message gives its receiver a turn; messages that arrive while it waits or speaks coalesce into the next
one. A question does not: it has a turn that ends with it, later ones wait as turns of their own, and what was said
before it is read along. What bounds them are the chain caps, the pair limiter and the no-progress detector.
"""

from collections.abc import Set

from msgspec import structs

from moot.errors import BadValue
from moot.model.event import EventType
from moot.model.hint import Act, Hint
from moot.model.ids import ParticipantId, address
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.participant import Participant
from moot.model.turn import UNCLAIMED, Call, RuleName, Turn, TurnState, remembered
from moot.rules import brakes
from moot.rules.floor import seats
from moot.rules.floor.calls import Called
from moot.rules.room import Room


def hand_out(room: Room, message: Message, called: Called) -> None:
    """Give out the calls of a message, and write down what was refused."""
    deliver(room, called.allowed(room), called.sender)
    for call, rule in called.refused():
        block(room, call, rule, called.sender)


def deliver(room: Room, calls: list[Call], sender: str) -> None:
    """Give each receiver its turn, or let the turn it already has carry the message along."""
    for call in calls:
        turn = room.turns.get(call.agent)
        if turn is None:
            _next(room, call.agent, (call,), sender)
        elif turn.called_by(call.seq):
            continue
        elif call.reason is RuleName.ASK and (turn.state is TurnState.RUNNING or turn.question is not None):
            room.put_turn(seats.make(room, (call,)))
        elif turn.state is TurnState.RUNNING:
            room.join_turn(structs.replace(turn, calls=remembered((*turn.calls, call))))
        else:
            turn = room.join_turn(turn.joined(call))
            if turn.state is TurnState.HELD and call.due <= room.now:
                _let_go(room, turn)


def _admit(room: Room, turn: Turn, sender: str) -> Turn:
    """Ready the turn as far as the rules let it. A question that they refuse ends here, and what else called its turn
    is asked without it."""
    question = turn.question
    stop = seats.unpaid(room, turn, turn.calls[-1].root).get(question) if question is not None else None
    if question is not None and stop is not None and len(turn.calls) > 1:
        seats.cancel(room, turn, stop)
        block(room, question, stop, sender)
        turn = seats.make(room, tuple(call for call in turn.calls if call is not question))
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
            seats.replaced(room, turn, RuleName.ASK)
            _next(room, agent, turn.calls)


def _next(room: Room, agent: ParticipantId, left: tuple[Call, ...], sender: str = "an agent") -> None:
    """The agent's next turn: the oldest question, with what else is left to be read, or that alone."""
    if agent not in room.members or agent in room.turns:
        return
    asking = any(call.reason is RuleName.ASK for call in left)
    while not asking and (question := _first_of(room, agent)) is not None:
        for call in left:
            question = question.joined(call)
        if _admit(room, question, sender).state is not TurnState.CANCELLED:
            return
    if left:
        _admit(room, seats.make(room, left), sender)


def reads_to(room: Room, turn: Turn) -> tuple[int, int]:
    """How far the turn reads, and the newest human message it may take as its cause."""
    return _reads_to(room, turn), room.conversation.last_human


def _reads_to(room: Room, turn: Turn) -> int:
    """To its question, or to the head. A person who interrupted it is heard as well, as far
    as no other question lies between."""
    question = turn.question
    if question is None:
        return room.conversation.head
    heard = max([question.seq, *[call.seq for call in turn.calls if call.reason is RuleName.FORCE]])
    later = _first_of(room, turn.agent)
    return heard if later is None else max(question.seq, min(heard, later.calls[0].seq - 1))


def _first_of(room: Room, agent: ParticipantId) -> Turn | None:
    """The oldest question that waits for the agent."""
    return next(room.asks.of(agent), None)


def release(room: Room, turn: Turn, *, due: bool, present: bool) -> None:
    """A held turn's time has come."""
    if due:
        _let_go(room, turn)


def _let_go(room: Room, turn: Turn) -> None:
    agent = room.draft.participant(turn.agent)
    if not agent.present(room.now):
        seats.owe(room, turn)
    else:
        seats.to_ready(room, turn, room.settings.agent_reply_timeout)


def block(room: Room, call: Call, rule: RuleName, sender: str) -> None:
    """Stored, but it gets no turn: remembered for `/continue`, with one notice where a chain ends. Whoever asked a
    question is told at once and stops waiting."""
    if call.reason is not RuleName.ASK:
        kept = tuple(c for c in room.conversation.blocked if c.agent != call.agent)
        room.put_conversation(structs.replace(room.conversation, blocked=(*kept, call)))
    if rule in (RuleName.CHAIN, RuleName.NO_PROGRESS):
        seats.post_chain_end(room, call, rule, sender)


def ended(room: Room, turn: Turn) -> None:
    """A turn ended: what came in beyond its interval is the next one."""
    if turn.state is TurnState.CANCELLED:
        return
    _next(room, turn.agent, tuple(call for call in turn.calls if call.seq > turn.hi))


def deadline(room: Room, turn: Turn) -> float:
    """Nobody waits for the floor here: a turn may take its time."""
    return 0.0


def unclaimed(room: Room, turn: Turn) -> None:
    """Nobody came for it: its agent owes it."""
    seats.owe(room, turn)


def give_back(room: Room, turn: Turn, back: Turn, *, present: bool) -> None:
    """A running turn returns to where it can be claimed again, as `back`."""
    if present and not turn.late:
        seats.to_ready(room, back, seats.patience(room, back))
    else:
        seats.owe(room, back)


def halted(room: Room, stopped: Turn) -> None:
    """What was said after the turn began still waits for an answer; what it was about is read along then."""
    _next(room, stopped.agent, tuple(call for call in stopped.calls if call.seq > stopped.hi))


def resume(room: Room, stopped: Turn) -> None:
    """A turn was stopped by a message that came while its tool ran: that message and what the turn had not
    answered are the next one."""
    unread = tuple(call for call in stopped.calls if call.seq > room.members[stopped.agent].cursor)
    if unread and unread[-1].seq > stopped.hi and stopped.agent not in room.turns:
        _next(room, stopped.agent, unread)


def withdraw(room: Room, seq: int, before: int) -> None:
    """A message was deleted. A question ends with it, and who asked is told; what else called its turn is asked."""
    for turn in [*room.turns.values(), *room.asks.all()]:
        question = turn.question
        if question is not None and question.seq == seq:
            cursor = room.members[turn.agent].cursor
            left = tuple(call for call in turn.calls if call is not question and call.seq > cursor)
            if left and not turn.started_at:
                seats.replaced(room, turn, RuleName.DELETED)
            else:
                seats.cancel(room, turn, RuleName.DELETED)
            _next(room, turn.agent, left)
    seats.withdraw(room, seq)


def go_on(room: Room) -> bool:
    """`/continue`: the chains' counters start again and what they blocked is delivered. A chain that stopped here goes
    on even where everything it blocked was read since: its agents may write again."""
    blocked, limits = room.conversation.blocked, room.draft.at.terms.limits
    unread = [call for call in blocked if call.seq > room.members[call.agent].cursor]
    stopped = [call for call in blocked if brakes.root_stop(room.draft.root(call.root), limits) is not None]
    for call in {call.root: call for call in (*stopped, *unread)}.values():
        root = room.draft.root(call.root)
        if root is not None:
            room.draft.put_root(brakes.continued(root, room.id, call.hop))
    if not unread and not stopped:
        return False
    room.put_conversation(structs.replace(room.conversation, blocked=()))
    deliver(room, unread, "an agent")
    return True


def see_off(room: Room, agent: ParticipantId) -> None:
    """The agent leaves."""
    drop_agent(room, agent, RuleName.AWAY, running=True)


def left(room: Room) -> None:
    """Nobody is waited for longer because somebody left."""


def drop_agent(room: Room, agent: ParticipantId, rule: RuleName, *, running: bool) -> None:
    """The agent left or was paused: its open turn goes."""
    turn = room.turns.get(agent)
    if turn is not None and (running or turn.state in UNCLAIMED):
        seats.cancel(room, turn, rule)
    for question in list(room.asks.of(agent)):
        seats.cancel(room, question, rule)


# --- what a message does ---------------------------------------------------------------------------------


def check_question(room: Room) -> None:
    """Each question waits as a turn of its own; there may be only so many."""
    brakes.room_for_a_question(room.asks, room.conversation.name)


def check_cap(author: Participant) -> None:
    """A person gets one answer here; what agents say to each other is bounded by their chain."""
    if author.speaks_in_turns:
        raise BadValue(
            "a message between two agents cannot have a cap on turns of its own",
            detail="caps on turns hold in groups; here the limits of the chain end it",
            fix=("leave out the cap", Hint(Act.SHOW_SETTING, setting="limits.chain_turns")),
        )


def check_post_slot(room: Room, turn: Turn) -> None:
    """There are no slots here."""


def interrupted(running: list[Turn], named: Set[ParticipantId]) -> list[Turn]:
    """Of the turns whose agents let themselves be interrupted: all, as every message is to everybody."""
    return running


def pair_due(room: Room, author: Participant) -> float:
    """Between two agents: when the receiver may be woken. Refuses over the hard cap, before storing."""
    due = 0.0
    for member in room.agents():
        if member.participant != author.id:
            pair = room.draft.pair(author.id, member.participant)
            pair = brakes.pair_send(pair, room.now, room.draft.at.terms.limits)
            room.draft.put_pair(pair)
            due = max(due, pair.due)
    return due


def inside(turn: Turn | None) -> Turn | None:
    """There are no rounds that something said in a turn would belong to."""
    return None


def too_deep(room: Room, depth: int) -> bool:
    return False


def opener(room: Room, author: Participant) -> int:
    """No round."""
    return 0


def marked(room: Room, metadata: JsonObject, author: Participant) -> JsonObject:
    """What one agent says to another outside a group carries who it is from, stamped here (J-07), and over a link what
    the sender is to the receiver (S-06)."""
    others = [member.participant for member in room.agents() if member.participant != author.id]
    if not author.speaks_in_turns or not others:
        return metadata
    stamp = {"type": "inter-agent", "sender": author.name}
    link = room.draft.graph.of_channel(room.id)
    if link is not None:
        stamp |= {
            "source": "internal",
            "link_id": link.id,
            "from_agent_id": author.id,
            "relationship": link.seen_by(others[0]).value,
        }
    return {**metadata, **stamp}


# --- what is told of agents that write to each other ----------------------------------------------------


def sent(room: Room, author: Participant, seq: int) -> None:
    """Record that an agent wrote to the others here, one event for each of them."""
    if author.speaks_in_turns:
        for member in room.agents():
            if member.participant != author.id:
                _emit(room, EventType.AGENT_MESSAGE_SENT, author.id, (author.id, member.participant), seq)


def claimed(room: Room, turn: Turn) -> None:
    """Record that an agent begins to read what other agents wrote to it."""
    others = [member.participant for member in room.agents() if member.participant != turn.agent]
    for call in turn.calls:
        if not call.human and len(others) == 1:
            _emit(room, EventType.AGENT_MESSAGE_RECEIVED, turn.agent, (others[0], turn.agent), call.seq)


def _emit(
    room: Room, kind: EventType, by: ParticipantId, pair: tuple[ParticipantId, ParticipantId], seq: int
) -> None:
    link = room.draft.graph.of_channel(room.id)
    body = {
        "from": pair[0],
        "to": pair[1],
        "link_id": link.id if link is not None else None,
        "channel": room.id,
        "message": address(room.id, seq),
    }
    room.draft.emit(kind, room, by=by, body=body)
