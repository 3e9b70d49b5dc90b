"""What a bridge to a chat app keeps: which chats it knows, whose accounts, what came in, what went out, who runs it.

Above: the verbs of flow/ that bridges call (hear, plan_posts, move_post …). Below: nothing. Not here: what was said,
which is in conversations; tokens of bots, which no store ever sees.
"""

from enum import StrEnum

from msgspec import Struct

from moot.model.ids import ConversationId, ParticipantId
from moot.model.records.record import Table


class PairingState(StrEnum):
    FOUND = "found"
    """One of our bots is in it; nobody in it wakes an agent."""
    PAIRED = "paired"
    LEFT = "left"
    """None of our bots is in it any more."""


class ChatKind(StrEnum):
    PRIVATE = "private"
    GROUP = "group"
    """A group in which every account counts messages by itself, as Telegram's basic groups do."""
    SUPERGROUP = "supergroup"
    """A group in which a message has the same id for everybody: Telegram's supergroups, Discord's channels."""


class BridgeChat(Struct, frozen=True, gc=False):
    """A chat elsewhere, and the conversation it is bound to."""

    bridge: str
    chat: str
    """As the bridge names it; a private one with its bot in front, a topic behind its group."""
    kind: ChatKind
    title: str
    state: PairingState = PairingState.FOUND
    conversation: ConversationId = ConversationId("")
    agents: tuple[str, ...] = ()
    """Those whose bots are in it, in the order in which they were seen."""
    listener: str = ""
    """The one agent whose bot listens where ids differ per account."""
    cursor: int = 0
    """Everything in its conversation up to here was planned to be sent, or needs not to be."""
    planned: int = 0
    """How many posts were planned for it: the place of the newest."""
    explained: bool = False
    """It was said there that the chat is not paired."""
    paired_by: str = ""
    notice: str = ""
    """The post that says there who is waited for, for as long as that is so."""
    created_at: float = 0.0
    updated_at: float = 0.0


class BridgeAccount(Struct, frozen=True, gc=False):
    """Somebody's account in a chat app, and who that is here. What a guest has used up is counted with it."""

    bridge: str
    account: str
    participant: ParticipantId
    shown: str
    """What the chat app calls it."""
    linked: bool = False
    """The owner has said whose it is; else a guest's."""
    minute: int = 0
    in_minute: int = 0
    day: int = 0
    in_day: int = 0
    order_minute: int = 0
    orders: int = 0
    """What it wanted besides, in that minute: commands, edits, buttons, mistakes."""
    created_at: float = 0.0


class ArrivalState(StrEnum):
    BEGUN = "begun"
    """A command that is being carried out."""
    DONE = "done"
    REFUSED = "refused"
    TROUBLED = "troubled"
    """It failed and is tried again."""
    DEAD = "dead"
    """It failed too often; its text is kept for people to read."""


class BridgeArrival(Struct, frozen=True, gc=False):
    """Something that came in: it is taken once, whoever delivers it how often."""

    bridge: str
    key: str
    chat: str
    account: str
    state: ArrivalState
    conversation: ConversationId = ConversationId("")
    seq: int = 0
    """The message it became, if any."""
    text: str = ""
    """Kept where it became no message."""
    tries: int = 0
    error: str = ""
    created_at: float = 0.0

    @property
    def became(self) -> str:
        """The address of the message that it became; empty if it became none."""
        return f"{self.conversation}:{self.seq}" if self.seq else ""


CONTINUE = "continue"
"""In place of a decision: the buttons say whether those whom a brake stopped go on."""
SETTLED = frozenset({ArrivalState.DONE, ArrivalState.REFUSED, ArrivalState.DEAD})
"""Nothing more becomes of it."""
MAX_TRIES = 5
"""After so many, what cannot be taken in or sent is laid aside for people to look at."""


class BridgePostState(StrEnum):
    QUEUED = "queued"
    SENDING = "sending"
    """Intended: it may or may not have gone out until its result is written down."""
    SENT = "sent"
    UNCONFIRMED = "unconfirmed"
    """Nobody knows whether it went out: the process died, or the answer never came. Only a person sends it again."""
    DEAD = "dead"
    """Refused too often."""
    DROPPED = "dropped"
    """A person decided that it shall not be sent."""


class BridgePost(Struct, frozen=True, gc=False):
    """One piece of something said, on its way to a chat elsewhere."""

    id: str
    bridge: str
    chat: str
    conversation: ConversationId
    seq: int
    """The message it is a piece of; 0 for an answer to a command."""
    place: int
    """Of the piece in what is said in its chat; pieces go out in this order."""
    speaker: str
    """Name of the agent whose identity says it; empty for the bridge's own."""
    text: str
    """What it says; what it is to say, where it is queued although it is there already."""
    state: BridgePostState = BridgePostState.QUEUED
    tries: int = 0
    due: float = 0.0
    """Not before."""
    external: str = ""
    """What the chat app calls it, once it is there."""
    reply_to: str = ""
    """What the chat app calls the message it answers."""
    error: str = ""
    buttons: tuple[str, ...] = ()
    decision: str = ""
    """The decision that its buttons answer, or CONTINUE."""
    created_at: float = 0.0
    updated_at: float = 0.0

    @property
    def queue(self) -> str:
        """The bridge and the chat for which it is queued; empty if it is not."""
        return queue_of(self.bridge, self.chat) if self.state is BridgePostState.QUEUED else ""

    @property
    def is_there(self) -> bool:
        """It was sent before, so that sending it means to change its text: that may be done twice without harm."""
        return self.external != ""


def queue_of(bridge: str, chat: str) -> str:
    return f"{bridge}/{chat}"


class Piece(Struct, frozen=True, gc=False):
    """What is to be said in a chat elsewhere, before it has a place there."""

    text: str
    speaker: str = ""
    seq: int = 0
    reply_to: str = ""
    buttons: tuple[str, ...] = ()
    decision: str = ""


class BridgeLease(Struct, frozen=True, gc=False):
    """Which hub runs a bridge, until when."""

    bridge: str
    holder: str
    until: float
    fence: int = 1
    """One more each time another takes over."""


class PairingCode(Struct, frozen=True, gc=False):
    """Lets one chat be paired, once."""

    digest: str
    bridge: str
    by: ParticipantId
    until: float
    used_by: str = ""
    """The chat it was used for."""
    created_at: float = 0.0


def _only_heard(arrival: BridgeArrival) -> BridgeArrival:
    """That it was heard outlives what it said: a chat app may bring it again, and it must not come in as new."""
    return BridgeArrival(
        arrival.bridge, arrival.key, arrival.chat, "", ArrivalState.DONE, created_at=arrival.created_at
    )


_TIMES = ("created_at", "updated_at")
BRIDGE_CHATS = Table(
    "bridge_chats",
    BridgeChat,
    key=("bridge", "chat"),
    by=("conversation",),
    all_at_once=True,
    in_micros=_TIMES,
)
BRIDGE_ACCOUNTS = Table(
    "bridge_accounts",
    BridgeAccount,
    key=("bridge", "account"),
    by=("participant",),
    all_at_once=True,
    in_micros=("created_at",),
)
ARRIVALS = Table(
    "arrivals",
    BridgeArrival,
    key=("bridge", "key"),
    by=("state", "became"),
    in_micros=("created_at",),
    ends_with_conversation=True,
    remnant=_only_heard,
)
BRIDGE_POSTS = Table(
    "bridge_posts",
    BridgePost,
    key=("id",),
    by=("state", "conversation", "decision", "external", "queue"),
    in_micros=_TIMES,
    ends_with_conversation=True,
)
BRIDGE_LEASES = Table("bridge_leases", BridgeLease, key=("bridge",), all_at_once=True)
PAIRING_CODES = Table(
    "pairing_codes", PairingCode, key=("digest",), all_at_once=True, in_micros=("created_at",)
)
