"""The calls of a message: which agents it asks for, and what bears on how they are asked.

Above: flow/post.py makes them when the message has its seq, and the floor hands them out. Not here: which of them the
rules refuse (brakes.py) or whose turn comes of it (group.py, direct.py).
"""

from msgspec import Struct

from moot.model.ids import ParticipantId
from moot.model.turn import Call, RuleName, Turn
from moot.rules.room import Room


class Called(Struct, frozen=True, gc=False):
    """The agents a message calls, and what bears on how they are asked."""

    sender: str
    calls: list[Call]
    blocks: dict[ParticipantId, RuleName]
    """The rule for each that gets no turn from it."""
    stopped: list[Turn]
    """Turns that the message interrupted."""
    inside: Turn | None
    """The turn of a group in which it was said."""
    cap: int

    def allowed(self, room: Room) -> list[Call]:
        """Those that no rule refuses, and what interrupted turns give back to be asked again."""
        calls = self.calls
        if self.blocks:
            calls = [call for call in calls if call.agent not in self.blocks]
        return _with_given_back(room, calls, self.stopped) if self.stopped else calls

    def refused(self) -> list[tuple[Call, RuleName]]:
        if not self.blocks:
            return []
        return [(call, self.blocks[call.agent]) for call in self.calls if call.agent in self.blocks]


def _with_given_back(room: Room, calls: list[Call], stopped: list[Turn]) -> list[Call]:
    """An interrupted turn gives its interval back: what had called it calls the next one too, before the message
    that interrupted it."""
    unread = {t.agent: [c for c in t.calls if c.seq > room.members[t.agent].cursor] for t in stopped}
    return [each for call in calls for each in (*unread.pop(call.agent, ()), call)]
