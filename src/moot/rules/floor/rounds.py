"""What opens and feeds the rounds of a group: messages with their calls.

Above: group.py, which hands the floor on in them. Below: pending_calls.py, who waits for a slot.
"""

from msgspec import structs

from moot.model.conversation import HYBRID, MENTION_ONLY
from moot.model.message import Message
from moot.model.participant import Participant
from moot.model.round import CLOSED, Round, RoundState, Utterance
from moot.model.turn import Call, RuleName, Turn
from moot.rules.floor import pending_calls, seats
from moot.rules.floor.calls import Called
from moot.rules.room import Room

MAX_QUEUED = 64
"""Rounds waiting in one conversation; beyond that a message joins the last of them."""


FIRST_PLACE = 1
"""Of a round's pending calls; those an interruption forces stand before it."""


def check_cap(author: Participant) -> None:
    """A message's own cap on turns holds here: rounds count them."""


def halted(room: Room, stopped: Turn) -> None:
    """What was said after a stopped turn began has a round of its own."""


def opener_for(room: Room, seq: int, *, human: bool) -> int:
    """The round a message will belong to: its own, or the last of its kind in a queue that is full."""
    if len(room.rounds) < MAX_QUEUED:
        return seq
    queued = [r for r in room.rounds.values() if r.state is RoundState.QUEUED]
    alike = [r.opener for r in queued if r.human == human]
    return max(alike) if alike and len(queued) >= MAX_QUEUED else seq


def hand_out(room: Room, message: Message, called: Called) -> None:
    """Give out the calls of a message, and write down what was refused."""
    allowed, refused = called.allowed(room), called.refused()
    if called.inside is not None:
        spoken_in_turn(room, called.inside, message, allowed)
    else:
        if called.stopped:
            allowed = _resume_stopped(room, allowed, called.stopped)
        if called.calls or message.from_outside:
            _queue(room, message, allowed, called, refused=bool(refused))
    for call, rule in refused:
        refuse(room, message.round, call, rule, called.sender)


def _queue(room: Room, message: Message, calls: list[Call], called: Called, *, refused: bool) -> None:
    """The message waits for the floor, unless turns to come read it anyway and nothing else would be asked."""
    polls = message.from_outside and room.settings.reply_strategy is not MENTION_ONLY
    unread = [call for call in calls if not pending_calls.join_open_turn(room, call)]
    if unread or refused or not asks_nobody(room, message, polls_others=polls):
        named = bool(calls) or _names_somebody(message, called)
        open_round(room, message, calls, cap=called.cap, polls_others=polls, overridden=named)


def _names_somebody(message: Message, called: Called) -> bool:
    """Whether a person asked for somebody by name, whatever became of it; to interrupt somebody is not yet to name."""
    stopped = [turn.agent for turn in called.stopped]
    return any(call.agent not in stopped or call.agent in message.mentions for call in called.calls)


def open_round(
    room: Room, message: Message, calls: list[Call], *, cap: int, polls_others: bool, overridden: bool
) -> None:
    """A message that is nobody's turn here: it waits in the queue for the floor."""
    if message.round != message.seq:
        room.put_round(pending_calls.behind(room.rounds[message.round], calls))
        return
    room.put_round(
        Round(
            conversation=room.id,
            opener=message.seq,
            root=message.root,
            hop=message.hop,
            human=message.from_outside,
            polls=polls_others,
            cap=cap,
            pending=tuple(structs.replace(call, place=n) for n, call in enumerate(calls, FIRST_PLACE)),
            places=len(calls),
            overridden=overridden,
        )
    )


def asks_nobody(room: Room, message: Message, *, polls_others: bool) -> bool:
    """Whether the round of a message whose calls all joined open turns would close as soon as it ran: no other
    is open, and it polls nobody or all are away. It need not be opened; the message's plan says it all."""
    if polls_others and (room.settings.reply_strategy is not HYBRID or room.here()):
        return False
    for round_ in room.rounds.values():
        if round_.state is not CLOSED:
            return False
    return message.round == message.seq


def spoken_in_turn(room: Room, turn: Turn, message: Message, calls: list[Call]) -> None:
    """What an agent says in its turn belongs to the turn's round; those it forces go behind the others."""
    round_ = room.rounds[turn.round]
    utterance = Utterance(
        seq=message.seq, agent=message.author, depth=turn.depth, hop=message.hop, root=message.root
    )
    round_ = structs.replace(round_, utterances=(*round_.utterances, utterance))
    round_ = pending_calls.behind(
        round_, [call for call in calls if not pending_calls.join_open_turn(room, call)]
    )
    if round_.state is RoundState.CLOSED and round_.pending:
        round_ = structs.replace(round_, state=RoundState.QUEUED, polls=False)
    room.put_round(round_)


def refuse(room: Room, opener: int, call: Call, rule: RuleName, sender: str) -> None:
    """A brake or depth refused the call when its message was posted."""
    if rule in (RuleName.CHAIN, RuleName.NO_PROGRESS):
        seats.post_chain_end(room, call, rule, sender)
    round_ = room.rounds.get(opener)
    if round_ is not None:
        room.put_round(pending_calls.blocked(round_, call, rule))


def _resume_stopped(room: Room, calls: list[Call], stopped: list[Turn]) -> list[Call]:
    """Who was stopped on the floor goes on first in the running round; the calls that are left stand behind."""
    running = running_round(room)
    if running is None:
        return calls
    here = {turn.agent for turn in stopped if turn.round == running.opener}
    if here:
        force_first(room, running, [call for call in calls if call.agent in here])
    return [call for call in calls if call.agent not in here]


def running_round(room: Room) -> Round | None:
    return next((r for r in room.rounds.values() if r.state is RoundState.RUNNING), None)


def force_first(room: Room, running: Round, calls: list[Call]) -> None:
    """Interrupted agents are asked first, with the slots their stopped turns gave back to the running round."""
    lowest = min([call.place for call in running.pending] + [t.place for t in room.turns.values()] + [0])
    first = tuple(structs.replace(call, place=lowest - len(calls) + n) for n, call in enumerate(calls))
    room.put_round(structs.replace(running, pending=(*first, *running.pending)))
