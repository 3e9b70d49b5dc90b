"""The text of running turns so far, and which of them wait for a process: from the live lane, for turns of any host.

Above: hub/agents.py, which shows whether an agent thinks or writes; `hub.live`. These are hints: a turn counts only
while it runs according to the store, and lost pieces are missing.
"""

from collections import OrderedDict
from collections.abc import Sequence

from msgspec import Struct

from moot.host.agent_turn import units
from moot.model.event import Event, EventType
from moot.model.ids import ParticipantId
from moot.rules.activity import Activity

MAX_AGENTS = 10_000
MAX_TEXTS = 1_000
MAX_UNITS = 1_000_000
"""Of one turn; then only what follows is kept."""
STREAMING = "streaming"
QUEUED = "queued"


class LiveText(Struct):
    """The text of a turn so far, from an offset on: all of it, unless the beginning was lost."""

    offset: int
    pieces: list[str]
    length: int

    @property
    def text(self) -> str:
        if len(self.pieces) > 1:
            self.pieces = ["".join(self.pieces)]
        return self.pieces[0]

    def add(self, offset: int, piece: str) -> None:
        end = self.offset + self.length
        if offset != end or self.length > MAX_UNITS:
            beginning = self.cut(offset - self.offset) if self.offset <= offset < end else ""
            self.offset, self.pieces = (
                (self.offset if beginning else offset),
                ([beginning] if beginning else []),
            )
            self.length = units(beginning)
        self.pieces.append(piece)
        self.length += units(piece)

    def cut(self, length: int) -> str:
        return self.text.encode("utf-16-le", "surrogatepass")[: 2 * length].decode(
            "utf-16-le", "surrogatepass"
        )


class LiveTurns:
    def __init__(self) -> None:
        self._streaming: OrderedDict[ParticipantId, str] = OrderedDict()
        self._waiting: OrderedDict[ParticipantId, tuple[str, Activity]] = OrderedDict()
        self._texts: OrderedDict[str, LiveText] = OrderedDict()

    def on_live(self, event: Event) -> None:
        if event.by is None:
            return
        if event.type is EventType.TURN_DELTA:
            self._say(event)
        if event.type is not EventType.AGENT_ACTIVITY:
            return
        self._streaming.pop(event.by, None)
        self._waiting.pop(event.by, None)
        body = event.body or {}
        doing = body.get("activity")
        if isinstance(doing, dict) and doing.get("state") == STREAMING:
            self._streaming[event.by] = str(body.get("turn"))
            if len(self._streaming) > MAX_AGENTS:
                self._streaming.popitem(last=False)
        elif isinstance(doing, dict) and doing.get("state") == QUEUED:
            waits = Activity(QUEUED, str(doing.get("label")), float(doing.get("since") or 0.0))
            self._waiting[event.by] = (str(body.get("turn")), waits)
            if len(self._waiting) > MAX_AGENTS:
                self._waiting.popitem(last=False)

    def waiting(self, agent: ParticipantId) -> tuple[str, Activity] | None:
        """The turn of the agent that its host has begun and that waits, and for what."""
        return self._waiting.get(agent)

    def on_events(self, events: Sequence[Event]) -> None:
        """A turn that has ended is dropped: its message says the rest."""
        for event in events:
            if event.type is EventType.TURN_FINISHED and event.turn is not None:
                self._texts.pop(str(event.turn.id), None)

    def _say(self, event: Event) -> None:
        body = event.body or {}
        turn, piece, offset = body.get("turn"), body.get("text"), body.get("offset")
        if not (isinstance(turn, str) and isinstance(piece, str) and isinstance(offset, int)):
            return  # a host of another version
        live_text = self._texts.get(turn)
        if live_text is None:
            live_text = self._texts[turn] = LiveText(offset, [], 0)
            if len(self._texts) > MAX_TEXTS:
                self._texts.popitem(last=False)
        live_text.add(offset, piece)

    def streaming(self, agent: ParticipantId) -> str | None:
        """The turn whose text the agent is streaming."""
        return self._streaming.get(agent)

    def text_of(self, turn: str) -> LiveText | None:
        """The text of a turn as far as it was streamed here."""
        return self._texts.get(turn)
