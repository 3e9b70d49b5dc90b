"""Whose turn it is, as verbs ask for it: the same questions of a group and of a direct conversation.

Two modules answer them, group.py and direct.py; a room has the one or the other (draft.py), and no verb asks which.
Below: seats.py moves single turns for both.
"""

from collections.abc import Set
from typing import Protocol

from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.participant import Participant
from moot.model.turn import RuleName, Turn
from moot.rules.floor.calls import Called
from moot.rules.room import Room


class Floor(Protocol):
    def advance(self, room: Room) -> None:
        """Hand the floor on until somebody has it or nothing is left to do; called at the end of every verb."""
        ...

    # --- what a message does ---

    def check_question(self, room: Room) -> None:
        """Refuses a question where too many wait."""
        ...

    def check_cap(self, author: Participant) -> None:
        """Refuses a message's own cap on turns where nothing counts them."""
        ...

    def check_post_slot(self, room: Room, turn: Turn) -> None:
        """Take the slot that a post by tool in one's own turn costs, or refuse it."""
        ...

    def interrupted(self, running: list[Turn], named: Set[ParticipantId]) -> list[Turn]:
        """Which of the running turns that may be interrupted a message stops that names these."""
        ...

    def pair_due(self, room: Room, author: Participant) -> float:
        """When an agent's message may wake the one it is for. Refuses over the hard cap, before storing."""
        ...

    def inside(self, turn: Turn | None) -> Turn | None:
        """The turn here whose round a message said in it belongs to, if any."""
        ...

    def too_deep(self, room: Room, depth: int) -> bool:
        """Whether agents have called agents too often for one more to get a turn."""
        ...

    def opener(self, room: Room, author: Participant) -> int:
        """The round that the next message belongs to, by its opener; 0 without rounds."""
        ...

    def marked(self, room: Room, metadata: JsonObject, author: Participant) -> JsonObject:
        """The metadata of a message, with what the hub stamps on it."""
        ...

    def sent(self, room: Room, author: Participant, seq: int) -> None:
        """Record the events of a message between agents."""
        ...

    def hand_out(self, room: Room, message: Message, called: Called) -> None:
        """Make turns of the calls, or have them wait; remember those that a rule refuses."""
        ...

    def withdraw(self, room: Room, seq: int, before: int) -> None:
        """A message was deleted; `before` is the newest by a person that stands before it."""
        ...

    # --- what happens to turns ---

    def reads_to(self, room: Room, turn: Turn) -> tuple[int, int]:
        """How far a turn that begins reads, and the newest human message it may take as its cause."""
        ...

    def claimed(self, room: Room, turn: Turn) -> None:
        """A turn has begun."""
        ...

    def deadline(self, room: Room, turn: Turn) -> float:
        """Until when a turn that begins now must give a sign; 0.0: it may take its time."""
        ...

    def ended(self, room: Room, turn: Turn) -> None:
        """A turn is over. `advance` comes after."""
        ...

    def release(self, room: Room, turn: Turn, *, due: bool, present: bool) -> None:
        """Look at a held turn: ready it when its time has come."""
        ...

    def unclaimed(self, room: Room, turn: Turn) -> None:
        """Nobody came for a ready turn."""
        ...

    def give_back(self, room: Room, turn: Turn, back: Turn, *, present: bool) -> None:
        """A running turn returns to where it can be claimed again, as `back`."""
        ...

    def halted(self, room: Room, stopped: Turn) -> None:
        """A turn was stopped by somebody who said nothing. `advance` comes after."""
        ...

    def resume(self, room: Room, stopped: Turn) -> None:
        """A turn was stopped by a message that came while its tool ran."""
        ...

    # --- who comes and goes ---

    def drop_agent(self, room: Room, agent: ParticipantId, rule: RuleName, *, running: bool) -> None:
        """The agent's open turns go by this rule; one that runs only with `running`."""
        ...

    def see_off(self, room: Room, agent: ParticipantId) -> None:
        """The agent is about to leave."""
        ...

    def left(self, room: Room) -> None:
        """Somebody has left."""
        ...

    def go_on(self, room: Room) -> bool:
        """`/continue`: what was stopped goes on; whether anything was."""
        ...
