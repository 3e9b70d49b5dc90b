"""The shapes everything outside relies on: JSON at every door, the same names as attributes in Python.

Inside, values speak in ids; here they speak in names. Built from the stored values and a directory of names;
nothing flows back from here into the store.
"""

from moot.shapes.audit import AuditEntry, AuditReport, PurgedRecord
from moot.shapes.config import ConfigChange, Reloaded
from moot.shapes.decisions import PersonsDecision
from moot.shapes.limits import AgentLimit, BrakeReport, ChainLimit, PairLimit
from moot.shapes.links import (
    AppliedLinks,
    Link,
    LinkEndPrompt,
    LinkPrompts,
    LinkRevision,
    MadeLink,
    Point,
    Positions,
    Topology,
    TopologyNode,
)
from moot.shapes.notes import Note, NoteChange, NoteShare
from moot.shapes.shape import Names, Shape, plain, when
from moot.shapes.talk import (
    Agent,
    Arrival,
    Because,
    Conversation,
    DeliveryProgress,
    Event,
    Handed,
    Heard,
    Hit,
    Hooked,
    IssuedToken,
    Message,
    Received,
    Removed,
    Replayed,
    Seat,
    Token,
    Turn,
    View,
    Why,
    still_open,
)
from moot.shapes.tasks import Task

__all__ = [
    "Agent",
    "AgentLimit",
    "AppliedLinks",
    "Arrival",
    "AuditEntry",
    "AuditReport",
    "Because",
    "BrakeReport",
    "ChainLimit",
    "ConfigChange",
    "Conversation",
    "DeliveryProgress",
    "Event",
    "Handed",
    "Heard",
    "Hit",
    "Hooked",
    "IssuedToken",
    "Link",
    "LinkEndPrompt",
    "LinkPrompts",
    "LinkRevision",
    "MadeLink",
    "Message",
    "Names",
    "Note",
    "NoteChange",
    "NoteShare",
    "PairLimit",
    "PersonsDecision",
    "Point",
    "Positions",
    "PurgedRecord",
    "Received",
    "Reloaded",
    "Removed",
    "Replayed",
    "Seat",
    "Shape",
    "Task",
    "Token",
    "Topology",
    "TopologyNode",
    "Turn",
    "View",
    "Why",
    "plain",
    "still_open",
    "when",
]
