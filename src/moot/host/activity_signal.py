"""What the agents of this host are doing, published live when it changes: a turn begins, a tool runs, text comes.

Above: the host reports each change. Below: rules/activity.py words it. A reader that missed one asks the registry,
which derives the same from the store; what an agent waits for after its turns have ended is found there, not here.
"""

from msgspec import to_builtins

from moot.host.hosted import Running
from moot.model.event import Event, EventType
from moot.model.ids import ParticipantId
from moot.model.json import JsonObject
from moot.ports import Clock, LiveLane
from moot.rules.activity import Activity


class ActivitySignal:
    def __init__(self, live: LiveLane, clock: Clock) -> None:
        self._live = live
        self._clock = clock
        self._last: dict[ParticipantId, Activity] = {}

    def show(self, run: Running) -> None:
        """Publish the activity of its agent's newest turn here, if it has changed."""
        agent, doing = run.turn.agent, run.doing
        if self._last.get(agent) != doing:
            self._last[agent] = doing
            self._publish(agent, {"turn": str(run.turn.id), "activity": to_builtins(doing)})

    def show_chunk(self, run: Running, chunk: str) -> None:
        """Publish a piece of a reply, with its place in the text."""
        turn, offset = run.turn, run.speaking.shown_before if run.speaking is not None else 0
        body = {"turn": str(turn.id), "agent": turn.agent, "text": chunk, "offset": offset}
        now = self._clock.now()
        self._live.publish(
            Event(EventType.TURN_DELTA, now, conversation=turn.conversation, by=turn.agent, body=body)
        )

    def show_rest(self, agent: ParticipantId) -> None:
        """None of the agent's turns runs here any more."""
        if self._last.pop(agent, None) is not None:
            self._publish(agent, {})

    def _publish(self, agent: ParticipantId, body: JsonObject) -> None:
        self._live.publish(Event(EventType.AGENT_ACTIVITY, self._clock.now(), by=agent, body=body))
