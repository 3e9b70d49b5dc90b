"""Turns of which words are being heard now, whichever process runs them: what the live lane says beyond the store.

Above: hub/agents.py, which says of an agent that it thinks or writes. A hint: a turn counts only while the store says
that it runs.
"""

from collections import OrderedDict

from moot.model.event import Event, EventType
from moot.model.ids import ParticipantId

MAX_HEARD = 10_000
STREAMING = "streaming"


class LiveTurns:
    def __init__(self) -> None:
        self._heard: OrderedDict[ParticipantId, str] = OrderedDict()

    def on_live(self, event: Event) -> None:
        if event.type is not EventType.AGENT_ACTIVITY or event.by is None:
            return
        self._heard.pop(event.by, None)
        body = event.body or {}
        doing = body.get("activity")
        if isinstance(doing, dict) and doing.get("state") == STREAMING:
            self._heard[event.by] = str(body.get("turn"))
            if len(self._heard) > MAX_HEARD:
                self._heard.popitem(last=False)

    def heard(self, agent: ParticipantId) -> str | None:
        """The turn in which the agent was heard last, while it was."""
        return self._heard.get(agent)
