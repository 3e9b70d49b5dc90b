"""The declared calls of the SDK, sent over a transport: whatever `sdk/` declares can be called from here.

Above: client/hub.py. Below: the transport. Not here: methods by name; a new one needs nothing in this folder.
"""

from typing import Any
from uuid import uuid4

from moot.client.transport.socket_transport import Transport, Voice
from moot.sdk.agents import AgentCalls
from moot.sdk.audit import AuditCalls
from moot.sdk.bridges import BridgeCalls
from moot.sdk.call import DeclaredCall, Subject
from moot.sdk.conversations import ConversationCalls
from moot.sdk.decisions import DecisionCalls
from moot.sdk.deliveries import DeliveryCalls
from moot.sdk.inspector import InspectorCalls
from moot.sdk.links import LinkCalls
from moot.sdk.mailbox import MailboxCalls
from moot.sdk.notes import NoteCalls
from moot.sdk.operator import OperatorCalls
from moot.sdk.request import Named
from moot.sdk.tasks import TaskCalls


class RemoteCalls(Subject):
    def __init__(self, transport: Transport, voice: Voice) -> None:
        self._transport = transport
        self._voice = voice

    async def _call(self, call: DeclaredCall, arguments: Named) -> Any:
        if call.keyed:  # made here: a call that is repeated stores nothing twice
            arguments["idempotency_key"] = arguments["idempotency_key"] or uuid4().hex
        return await self._transport.call(call, self._voice, **arguments)


class RemoteConversations(RemoteCalls, ConversationCalls):
    """`hub.conversations` over a transport."""


class RemoteAgents(RemoteCalls, AgentCalls):
    """`hub.agents` over a transport."""


class RemoteAudit(RemoteCalls, AuditCalls):
    """`hub.audit` over a transport."""


class RemoteLinks(RemoteCalls, LinkCalls):
    """`hub.links` over a transport."""


class RemoteDecisions(RemoteCalls, DecisionCalls):
    """`hub.decisions` over a transport."""


class RemoteTasks(RemoteCalls, TaskCalls):
    """`hub.tasks` over a transport."""


class RemoteNotes(RemoteCalls, NoteCalls):
    """`hub.notes` over a transport."""


class RemoteMailbox(RemoteCalls, MailboxCalls):
    """`hub.mailbox` over a transport."""


class RemoteDeliveries(RemoteCalls, DeliveryCalls):
    """`hub.deliveries` over a transport."""


class RemoteInspector(RemoteCalls, InspectorCalls):
    """`hub.inspector` over a transport."""


class RemoteOperator(RemoteCalls, OperatorCalls):
    """`hub.operator` over a transport."""


class RemoteBridges(RemoteCalls, BridgeCalls):
    """`hub.bridges` over a transport."""
