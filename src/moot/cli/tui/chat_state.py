"""The state of the full-screen chat, as frozen values: the whole screen is drawn from it and the clock.

Above: the reducer makes the next state from this one, the widgets draw it. Below: the shapes of the SDK.
Not here: widgets, the hub, time.
"""

from collections.abc import Mapping

from msgspec import Struct

from moot import shapes

MAX_ENTRIES = 400
"""Entries that are kept on the screen; older ones are read again when somebody scrolls there."""


class ReceiptSteps(Struct, frozen=True):
    """How far a message of the person got. It is stored by the time it is shown."""

    delivered: bool = False
    """An agent has begun to read it."""
    answered: bool = False


class Entry(Struct, frozen=True):
    """One block of the transcript. Entries are in the order in which they began, and never change places."""

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
    """What wrote the text, where that must be visible."""
    ending: str = ""
    """Why a text is incomplete."""
    is_late: bool = False
    """The beginning of this stream was missed."""
    progress: ReceiptSteps | None = None
    """Only on messages of the person."""


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
    """Turns that have ended; later events about them are out of date."""
    reasons: Mapping[str, tuple[str, str]] = {}
    """Turn → its reason, and the message that caused it."""
    unread: Mapping[str, int] = {}
    """Conversation → number of unread messages."""
    asking: frozenset[str] = frozenset()
    """Agents that wait for the person's decision."""
    chips: Mapping[str, str] = {}
    is_cut: bool = False
    """The hub is gone; the chat is looking for it."""
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
        """The agents whose turns run here, in the order in which they began."""
        return list(dict.fromkeys(self.running.values()))

    @property
    def elsewhere(self) -> int:
        """Unread messages in other conversations."""
        return sum(count for place, count in self.unread.items() if place != self.where.id)


class ChatSnapshot(Struct, frozen=True):
    """Everything a hub knows of a conversation at one moment; a state begins with it."""

    me: str
    where: shapes.Conversation
    messages: tuple[shapes.Message, ...]
    turns: tuple[shapes.Turn, ...]
    agents: tuple[shapes.Agent, ...]
    unread: Mapping[str, int] = {}
    asking: frozenset[str] = frozenset()
    has_more: bool = False


class AgentsRead(Struct, frozen=True):
    """What every agent does and how much is unread, read again."""

    agents: tuple[shapes.Agent, ...]
    unread: Mapping[str, int]
    asking: frozenset[str]


class OlderRead(Struct, frozen=True):
    """Messages before those on the screen."""

    messages: tuple[shapes.Message, ...]
    turns: tuple[shapes.Turn, ...]
    has_more: bool


class Remark(Struct, frozen=True):
    """Something this screen says to the person; nobody else sees it, and it is not stored."""

    text: str
    at: str
    is_small: bool = False
    """Shown on one line together with other small remarks."""


class HubLost(Struct, frozen=True):
    pass


class ConversationRead(Struct, frozen=True):
    """The conversation has changed: members, name, settings."""

    where: shapes.Conversation
