"""The calls of a message become turns, or places in line; those that a rule refuses are remembered with it.

post.py asks this when the message has its seq. Below: rules/floor/group.py and rules/floor/direct.py know whose turn
it is.
"""

from msgspec import Struct

from moot.model.conversation import MENTION_ONLY
from moot.model.ids import ParticipantId
from moot.model.message import Message
from moot.model.turn import Call, Rule, Turn
from moot.rules.draft import Room
from moot.rules.floor import direct, group, line


class Called(Struct, frozen=True, gc=False):
    """The agents a message calls, and what bears on how they are asked."""

    sender: str
    calls: list[Call]
    blocks: dict[ParticipantId, Rule]
    """The rule for each that gets no turn from it."""
    stopped: list[Turn]
    """Turns that the message interrupted."""
    inside: Turn | None
    """The turn of a group in which it was said."""
    cap: int


def hand_out(room: Room, message: Message, called: Called) -> None:
    """Give out the calls, and write down what was refused."""
    allowed, refused, sender = called.calls, [], called.sender
    if called.blocks:
        allowed = [call for call in called.calls if call.agent not in called.blocks]
        refused = [(call, called.blocks[call.agent]) for call in called.calls if call.agent in called.blocks]
    if called.stopped:
        allowed = _with_given_back(room, allowed, called.stopped)
    if not room.takes_rounds:
        direct.deliver(room, allowed, sender)
        for call, rule in refused:
            direct.block(room, call, rule, sender)
        return
    if called.inside is not None:
        group.spoken_in_turn(room, called.inside, message, allowed)
    else:
        if called.stopped:
            allowed = _resume_stopped(room, allowed, called.stopped)
        if called.calls or not message.by_agent:
            _open_round(room, message, allowed, called, refused=bool(refused))
    for call, rule in refused:
        group.refuse(room, message.round, call, rule, sender)


def _open_round(room: Room, message: Message, calls: list[Call], called: Called, *, refused: bool) -> None:
    """The message waits for the floor, unless turns to come read it anyway and nothing else would be asked."""
    polls = not message.by_agent and room.settings.reply_strategy is not MENTION_ONLY
    unread = [call for call in calls if not line.join_open_turn(room, call)]
    if unread or refused or not group.asks_nobody(room, message, polls_others=polls):
        named = bool(calls) or _names_somebody(message, called)
        group.open_round(room, message, calls, cap=called.cap, polls_others=polls, overridden=named)


def _names_somebody(message: Message, called: Called) -> bool:
    """Whether a person asked for somebody by name, whatever became of it; to interrupt somebody is not yet to name."""
    stopped = [turn.agent for turn in called.stopped]
    return any(call.agent not in stopped or call.agent in message.mentions for call in called.calls)


def _resume_stopped(room: Room, calls: list[Call], stopped: list[Turn]) -> list[Call]:
    """Who was stopped on the floor goes on first in the running round; the calls that are left stand behind."""
    running = group.running_round(room)
    if running is None:
        return calls
    here = {turn.agent for turn in stopped if turn.round == running.opener}
    if here:
        group.force_first(room, running, [call for call in calls if call.agent in here])
    return [call for call in calls if call.agent not in here]


def _with_given_back(room: Room, calls: list[Call], stopped: list[Turn]) -> list[Call]:
    """An interrupted turn gives its interval back: what had called it calls the next one too, before the message
    that interrupted it."""
    unread = {t.agent: [c for c in t.calls if c.seq > room.members[t.agent].cursor] for t in stopped}
    return [each for call in calls for each in (*unread.pop(call.agent, ()), call)]
