"""The SDK, declared once: from here come what the hub's socket takes, both clients, and docs/reference/python.md.

Above: hub/ carries the methods out, client/ sends them. Below: the shapes they answer with. Light on purpose, as
client/ is. To add a method, declare it in the module of its subject and write it into the hub's class of that subject.
"""

from typing import Final

from moot.sdk.agents import AgentCalls
from moot.sdk.audit import AuditCalls
from moot.sdk.bridges import BridgeCalls
from moot.sdk.call import DeclaredCall, Subject
from moot.sdk.conversations import ConversationCalls
from moot.sdk.decisions import DecisionCalls
from moot.sdk.deliveries import DeliveryCalls
from moot.sdk.hub import HubCalls
from moot.sdk.inspector import InspectorCalls
from moot.sdk.links import LinkCalls
from moot.sdk.mailbox import MailboxCalls
from moot.sdk.notes import NoteCalls
from moot.sdk.operator import OperatorCalls
from moot.sdk.tasks import TaskCalls

SUBJECTS: Final[tuple[type[Subject], ...]] = (
    HubCalls,
    ConversationCalls,
    AgentCalls,
    AuditCalls,
    LinkCalls,
    TaskCalls,
    DecisionCalls,
    NoteCalls,
    MailboxCalls,
    DeliveryCalls,
    InspectorCalls,
    OperatorCalls,
    BridgeCalls,
)
CALLS: Final[dict[str, DeclaredCall]] = {name: call for kind in SUBJECTS for name, call in kind.calls.items()}
"""By the name that the socket knows."""
