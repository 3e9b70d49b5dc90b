"""Work that was handed down a link, or by a person: a task with a life of its own, which always comes home.

It is worked on in a conversation of its own (its branch), so that the channel stays free for talk; its end is reported
in the channel of the link, and whoever delegated is woken where it did so. Above: flow/delegate.py, update_task.py;
flow/steps/obligations.py ends it with the turn that was to do it.
"""

from enum import StrEnum
from typing import NewType

from msgspec import Struct

from moot.model.ids import NO_ROOT, ConversationId, ParticipantId, RootId
from moot.model.records.record import Table

TaskId = NewType("TaskId", str)

NOWHERE = ConversationId("")


class TaskState(StrEnum):
    OPEN = "open"
    WORKING = "working"
    DONE = "done"
    FAILED = "failed"
    CANCELLED = "cancelled"
    EXPIRED = "expired"


UNFINISHED = frozenset({TaskState.OPEN, TaskState.WORKING})


class IllegalTaskMove(AssertionError):
    """A task that has ended does not go on; a rule is wrong, not the caller."""


class Task(Struct, frozen=True, gc=False):
    id: TaskId
    by: ParticipantId
    """Who delegated it."""
    to: ParticipantId
    task: str
    state: TaskState = TaskState.OPEN
    result: str = ""
    """What came of it, or why nothing did."""
    note: str = ""
    """How far it is, in the worker's words."""
    conversation: ConversationId = NOWHERE
    """Its branch."""
    channel: ConversationId = NOWHERE
    """Of the link it came down; nowhere for a person's."""
    asked_in: ConversationId = NOWHERE
    """Where its delegator is woken when it ends."""
    link: str = ""
    root: RootId = NO_ROOT
    """The chain it belongs to."""
    hop: int = 0
    deadline: float = 0.0
    """When it expires."""
    kept_by: int = 0
    """The turn in which the worker said that it goes on: what that turn says at its end is no result."""
    created_at: float = 0.0
    updated_at: float = 0.0
    chain: str = ""
    """Hash of the newest entry of its audit chain."""
    chain_length: int = 0

    @property
    def is_open(self) -> bool:
        return self.state in UNFINISHED

    @property
    def open_to(self) -> str:
        """Who works on it, as long as it is not finished."""
        return self.to if self.is_open else ""

    @property
    def open_by(self) -> str:
        """Who waits for it, as long as it is not finished."""
        return self.by if self.is_open else ""

    @property
    def open_over(self) -> str:
        """The link it came down, as long as it is not finished."""
        return self.link if self.is_open else ""

    @property
    def open_in(self) -> str:
        """Where its delegator waits for it, as long as it is not finished."""
        return self.asked_in if self.is_open else ""


TASKS = Table(
    "tasks",
    Task,
    key=("id",),
    by=("conversation", "by", "to", "state", "open_to", "open_by", "open_over", "open_in"),
    in_micros=("created_at", "updated_at"),
    audited_as="task",
    by_beginning=True,
)
