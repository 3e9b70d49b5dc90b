"""The shapes everything outside relies on: JSON at every door, the same names as attributes in Python.

Inside, values speak in ids; here they speak in names. Built from the stored values and a directory of names;
nothing flows back from here into the store.
"""

from moot.shapes.audit import AuditEntry, AuditReport, PurgedRecord
from moot.shapes.bridges import (
    BridgeHolder,
    ChatElsewhere,
    LinkedAccount,
    NewCode,
    OutgoingPost,
    UnheardMessage,
)
from moot.shapes.config import ConfigChange, Reloaded
from moot.shapes.decisions import PersonsDecision
from moot.shapes.limits import AgentLimit, BrakeReport, Budget, ChainLimit, PairLimit
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
from moot.shapes.live import LiveTurn
from moot.shapes.notes import Note, NoteChange, NoteShare
from moot.shapes.now import BrakeInForce, Now, NowAgent, NowRow
from moot.shapes.operation import ChangedValue, ListedSetting, LogTail, PingedAgent, RoleFile
from moot.shapes.overview import LastMessage, ListedConversation
from moot.shapes.shape import Names, Shape, plain, when
from moot.shapes.sign_in import SignedIn, SignInCode
from moot.shapes.spawned import Spawned
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
    "BrakeInForce",
    "BrakeReport",
    "BridgeHolder",
    "Budget",
    "ChainLimit",
    "ChangedValue",
    "ChatElsewhere",
    "ConfigChange",
    "Conversation",
    "DeliveryProgress",
    "Event",
    "Handed",
    "Heard",
    "Hit",
    "Hooked",
    "IssuedToken",
    "LastMessage",
    "Link",
    "LinkEndPrompt",
    "LinkPrompts",
    "LinkRevision",
    "LinkedAccount",
    "ListedConversation",
    "ListedSetting",
    "LiveTurn",
    "LogTail",
    "MadeLink",
    "Message",
    "Names",
    "NewCode",
    "Note",
    "NoteChange",
    "NoteShare",
    "Now",
    "NowAgent",
    "NowRow",
    "OutgoingPost",
    "PairLimit",
    "PersonsDecision",
    "PingedAgent",
    "Point",
    "Positions",
    "PurgedRecord",
    "Received",
    "Reloaded",
    "Removed",
    "Replayed",
    "RoleFile",
    "Seat",
    "Shape",
    "SignInCode",
    "SignedIn",
    "Spawned",
    "Task",
    "Token",
    "Topology",
    "TopologyNode",
    "Turn",
    "UnheardMessage",
    "View",
    "Why",
    "plain",
    "still_open",
    "when",
]
