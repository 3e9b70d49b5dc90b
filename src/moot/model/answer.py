"""What callers get back. Names, not ids; `to_dict` gives the JSON of every door."""

from typing import TypeVar

from msgspec import Struct, structs, to_builtins

from moot.model.hint import Say, WarningCode, Way, worded
from moot.model.json import JsonObject
from moot.model.message import Message
from moot.model.turn import Turn


class Delivery(Struct, frozen=True, gc=False):
    agent: str
    duty: str
    state: str
    rule: str
    reason: str
    reachability: str
    delayed_ms: int = 0


class Warned(Struct, frozen=True, gc=False):
    code: WarningCode
    message: str
    names: tuple[str, ...] = ()
    fix: tuple[Way, ...] = ()
    """What can be done about it; each door words it in its own terms."""


class Receipt(Struct, frozen=True, gc=False, rename={"sender": "from"}):
    """A message is on disk: its address, and what it means for each agent."""

    id: str
    seq: int
    conversation: str
    sender: str
    root: str
    hop: int
    deliveries: tuple[Delivery, ...] = ()
    warnings: tuple[Warned, ...] = ()
    replayed: bool = False

    def to_dict(self) -> JsonObject:
        found: JsonObject = to_builtins(self)
        return found


class Blocked(Struct, frozen=True, gc=False):
    agent: str
    rule: str
    reason: str


class Preview(Struct, frozen=True, gc=False):
    """Who would answer a message, before it is sent."""

    must: tuple[str, ...]
    may: tuple[str, ...]
    observes: tuple[str, ...]
    blocked: tuple[Blocked, ...]
    cap: int
    warnings: tuple[Warned, ...] = ()

    def to_dict(self) -> JsonObject:
        found: JsonObject = to_builtins(self)
        return found


class Claimed(Struct, frozen=True, gc=False):
    """A turn that now belongs to the caller, or None if somebody else has it."""

    turn: Turn | None = None


class Finished(Struct, frozen=True, gc=False):
    """How a turn ended, what was posted, and, for the hand-over, the caller's next turn already leased."""

    turn: Turn
    message: Message | None = None
    next: Turn | None = None
    due: float = 0.0


Answer = TypeVar("Answer", Receipt, Preview)


def in_words(answer: Answer, say: Say) -> Answer:
    """The answer as a door gives it: hints in warnings are worded in the door's terms."""
    if not any(warning.fix for warning in answer.warnings):
        return answer
    warnings = (structs.replace(each, fix=tuple(worded(each.fix, say))) for each in answer.warnings)
    return structs.replace(answer, warnings=tuple(warnings))
