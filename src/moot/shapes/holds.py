"""Which messages did not wake an agent at once, and until when."""

from moot.model.ids import address
from moot.model.turn import Turn
from moot.shapes.shape import Shape, when


class HeldMessage(Shape, frozen=True):
    """A message of another agent that did not wake this one before a certain moment."""

    message: str
    until: str | None
    """The message's own time where it was not held."""


def holds_of(turn: Turn) -> tuple[HeldMessage, ...]:
    """Of the messages that called a turn, as far as it remembers them; people are never held."""
    return tuple(
        HeldMessage(address(turn.conversation, call.seq), when(call.due)) for call in turn.calls if call.due
    )
