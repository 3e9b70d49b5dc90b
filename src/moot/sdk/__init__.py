"""The SDK, declared once: from here come what the hub's socket takes, both clients, and docs/reference/python.md.

Above: hub/ carries the methods out, client/ sends them. Below: the shapes they answer with. Light on purpose, as
client/ is. To add a method, declare it in the module of its subject and write it into the hub's class of that subject.
"""

from typing import Final

from moot.sdk.agents import AgentCalls
from moot.sdk.call import Call, Subject
from moot.sdk.conversations import ConversationCalls
from moot.sdk.deliveries import DeliveryCalls
from moot.sdk.history import HistoryCalls
from moot.sdk.hub import HubCalls
from moot.sdk.inspector import InspectorCalls
from moot.sdk.mailbox import MailboxCalls

SUBJECTS: Final[tuple[type[Subject], ...]] = (
    HubCalls,
    ConversationCalls,
    AgentCalls,
    MailboxCalls,
    DeliveryCalls,
    InspectorCalls,
    HistoryCalls,
)
CALLS: Final[dict[str, Call]] = {name: call for kind in SUBJECTS for name, call in kind.calls.items()}
"""By the name that the socket knows."""
