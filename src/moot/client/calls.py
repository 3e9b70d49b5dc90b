"""The declared calls of the SDK, sent over a line: whatever `sdk/` declares can be called from here.

Above: client/hub.py. Below: the line. Not here: methods by name; a new one needs nothing in this folder.
"""

from typing import Any
from uuid import uuid4

from moot.client.transport.line import Line, Voice
from moot.sdk.agents import AgentCalls
from moot.sdk.call import Call, Subject
from moot.sdk.conversations import ConversationCalls
from moot.sdk.deliveries import DeliveryCalls
from moot.sdk.history import HistoryCalls
from moot.sdk.inspector import InspectorCalls
from moot.sdk.mailbox import MailboxCalls
from moot.sdk.request import Named


class RemoteCalls(Subject):
    def __init__(self, line: Line, voice: Voice) -> None:
        self._line = line
        self._voice = voice

    async def _call(self, call: Call, named: Named) -> Any:
        if call.keyed:  # made here: a call that is repeated stores nothing twice
            named["idempotency_key"] = named["idempotency_key"] or uuid4().hex
        return await self._line.call(call, self._voice, **named)


class RemoteConversations(RemoteCalls, ConversationCalls):
    """`hub.conversations` over a line."""


class RemoteAgents(RemoteCalls, AgentCalls):
    """`hub.agents` over a line."""


class RemoteMailbox(RemoteCalls, MailboxCalls):
    """`hub.mailbox` over a line."""


class RemoteDeliveries(RemoteCalls, DeliveryCalls):
    """`hub.deliveries` over a line."""


class RemoteInspector(RemoteCalls, InspectorCalls):
    """`hub.inspector` over a line."""


class RemoteHistory(RemoteCalls, HistoryCalls):
    """`hub.history` over a line."""
