"""What the full-screen chat knows, as frozen values: everything on the screen is drawn from this and the clock.

Above: the reducer makes the next state from this one, the widgets draw it. Below: the shapes of the SDK.
Not here: widgets, the hub, time.
"""

from collections.abc import Mapping

from msgspec import Struct

from moot import shapes

MAX_ENTRIES = 400
"""Entries that are kept on the screen; older ones are read again when somebody scrolls there."""


class ReceiptSteps(Struct, frozen=True):
    """How far a message of one's own got. Stored it is as soon as it is shown."""

    delivered: bool = False
    """An agent has begun to read it."""
    answered: bool = False


class Entry(Struct, frozen=True):
    """One block of the transcript. Entries stand in the order in which they began, and never change places."""

    key: str
    kind: str
    """message, stream (words of a turn that still runs), notice (the hub's), remark (of this screen), tick (small
    things, in one line), day."""
    text: str = ""
    sender: str = ""
    author: str = ""
    """human, agent, external, tool: what the sender is."""
    at: str | None = None
    seq: int = 0
    id: str = ""
    root: str = ""
    turn: str = ""
    reason: str = ""
    """Why an agent speaks: forced by you, of its own accord."""
    number: str = ""
    """Which of the turns of its round: 1/3."""
    chip: str = ""
    """What made it, where that must be seen."""
    ending: str = ""
    """How a text that is not whole came to its end."""
    is_late: bool = False
    """The beginning of this stream was missed."""
    progress: ReceiptSteps | None = None
    """For messages of one's own."""


class Doing(Struct, frozen=True):
    """What an agent does, in the vocabulary that all surfaces share."""

    state: str = "idle"
    label: str = "idle"
    since: str | None = None
    reach: str = "live"
    role: str = ""
    kind: str = "agent"


class ChatState(Struct, frozen=True):
    me: str
    where: shapes.Conversation
    entries: tuple[Entry, ...] = ()
    last: int = 0
    """seq of the newest message known."""
    agents: Mapping[str, Doing] = {}
    """Everybody who can be written to, by name."""
    running: Mapping[str, str] = {}
    """Turns that run here: id → agent."""
    over: frozenset[str] = frozenset()
    """Turns that have ended: what is still heard of them comes late."""
    reasons: Mapping[str, tuple[str, str]] = {}
    """Of turns: why, and the message that caused them."""
    unread: Mapping[str, int] = {}
    """Conversation → messages in it that wait to be read."""
    asking: frozenset[str] = frozenset()
    """Agents that wait for a decision of the person."""
    chips: Mapping[str, str] = {}
    is_cut: bool = False
    """The hub is gone, and looked for."""
    has_more: bool = False
    """There are messages before the first entry."""

    @property
    def members(self) -> list[shapes.Seat]:
        return [seat for seat in self.where.participants if seat.kind in ("agent", "external")]

    @property
    def marks(self) -> dict[str, str]:
        return {seat.name: seat.mark for seat in self.where.participants}

    @property
    def is_group(self) -> bool:
        return self.where.kind == "group"

    @property
    def speakers(self) -> list[str]:
        """Whose turns run here, in the order in which they began."""
        return list(dict.fromkeys(self.running.values()))

    @property
    def elsewhere(self) -> int:
        """Unread messages in other conversations."""
        return sum(count for place, count in self.unread.items() if place != self.where.id)


class ChatSnapshot(Struct, frozen=True):
    """All that a hub says of a conversation at one moment: where a state begins."""

    me: str
    where: shapes.Conversation
    messages: tuple[shapes.Message, ...]
    turns: tuple[shapes.Turn, ...]
    agents: tuple[shapes.Agent, ...]
    unread: Mapping[str, int] = {}
    asking: frozenset[str] = frozenset()
    has_more: bool = False


class AgentsRead(Struct, frozen=True):
    """What everybody does and what waits to be read, asked for anew."""

    agents: tuple[shapes.Agent, ...]
    unread: Mapping[str, int]
    asking: frozenset[str]


class OlderRead(Struct, frozen=True):
    """Messages before those on the screen."""

    messages: tuple[shapes.Message, ...]
    turns: tuple[shapes.Turn, ...]
    has_more: bool


class Remark(Struct, frozen=True):
    """Something this screen says to the person; nobody else sees it, and it is not kept."""

    text: str
    at: str
    is_small: bool = False
    """It stands in one line with what else is small."""


class HubLost(Struct, frozen=True):
    pass


class ConversationRead(Struct, frozen=True):
    """The conversation itself is another now: members, name, settings."""

    where: shapes.Conversation
