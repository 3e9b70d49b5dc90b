"""Interrupt: stop running turns without saying anything. Their intervals are read with the next turn."""

from msgspec import Struct

from moot.flow import post
from moot.flow.steps import find, obligations
from moot.model.change import Decision
from moot.model.ids import ParticipantId, TurnId
from moot.model.moment import Moment
from moot.model.turn import Turn
from moot.ports import Scope
from moot.rules.draft import Draft, Seen
from moot.rules.floor import interruption


class Interrupt(Struct, frozen=True, gc=False):
    author: ParticipantId
    conversation: str
    agent: ParticipantId | None = None
    """None stops everybody who runs here."""
    partials: dict[TurnId, str] = {}


def scope(command: Interrupt) -> Scope:
    return Scope(refs=(command.conversation,), names=(command.author,))


def decide(command: Interrupt, seen: Seen, at: Moment) -> Decision[tuple[TurnId, ...]]:
    draft = Draft(seen, at)
    room = find.open_room(draft, command.conversation)
    author = draft.participant(command.author)
    running = interruption.running_besides(room, author)
    stopped = [turn for turn in interruption.stoppable(room, author) if _is_meant(command, turn)]
    if not stopped and any(_is_meant(command, turn) for turn in running):
        raise interruption.refusal(room, author)
    for turn in post.cut_short(room, stopped, command.partials):
        room.floor.halted(room, turn)
    obligations.move_on(room)
    return Decision(draft.changes(), tuple(turn.id for turn in stopped))


def _is_meant(command: Interrupt, turn: Turn) -> bool:
    return command.agent is None or turn.agent == command.agent
