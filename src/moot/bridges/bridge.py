"""The port of a bridge: what it brings in, how it takes what goes out, and how sending can fail.

Above: worker.py runs one. Below: telegram/ and discord/ speak to their chat app; moot.testing has one in memory. A
bridge keeps nothing: it confirms an update to its chat app only after the update is stored.
"""

from hashlib import sha256
from typing import NamedTuple, Protocol, TypeAlias

from msgspec import Struct

from moot.model.entrance import DoorName
from moot.model.records.chat_apps.bridge import BridgePost, ChatKind


class ChatRef(Struct, frozen=True):
    """A chat as its chat app names it."""

    id: str
    kind: ChatKind
    title: str = ""


class AccountRef(Struct, frozen=True):
    id: str
    shown: str = ""
    is_bot: bool = False


class ChatMessage(Struct, frozen=True):
    """Somebody wrote in a chat. `key` is the same for every delivery of the message, whichever bot brings it."""

    key: str
    chat: ChatRef
    account: AccountRef
    text: str
    agent: str = ""
    """The agent whose bot received it; empty where one bot reads for all."""
    message: str = ""
    """Its id in the chat app."""
    reply_to: str = ""
    """The chat app's id of the message it replies to."""
    reply_key: str = ""
    """The key of that message, if a person wrote it."""
    replied_agent: str = ""
    """The agent whose bot wrote that message, where its id does not tell."""
    is_addressed: bool = False
    """It is addressed to a bot, whatever its text says."""


class ChatEdit(Struct, frozen=True):
    """Somebody edited an earlier message. The key is that message's, then `#` and more (see `edit_key`)."""

    key: str
    chat: ChatRef
    account: AccountRef
    text: str
    agent: str = ""


class ChatDeletion(Struct, frozen=True):
    """Somebody deleted an earlier message: its author or a moderator, the chat app does not say which."""

    key: str
    """The key of the deleted message."""
    chat: ChatRef


def edit_key(key: str, at: int, text: str) -> str:
    """The key of an edit of the message `key`. It contains the text because two edits may share a second."""
    return f"{key}#{at}#{sha256(text.encode()).hexdigest()[:12]}"


class BotPlaced(Struct, frozen=True):
    """Where a bot is: in a chat, no longer in it, or in a chat that has a new id."""

    chat: ChatRef
    agent: str = ""
    left: bool = False
    moved_from: str = ""
    notice: str = ""
    """A text to post there, once."""
    readers: tuple[str, ...] = ()
    """Agents whose bots hear every line there; empty if the bridge does not say."""


class ButtonPress(Struct, frozen=True):
    """Somebody pressed a button under one of our posts."""

    key: str
    chat: ChatRef
    account: AccountRef
    message: str
    """The chat app's id of the post."""
    choice: int
    """Which button, from 0."""
    agent: str = ""


Incoming: TypeAlias = ChatMessage | ChatEdit | ChatDeletion | BotPlaced | ButtonPress


class PairedChat(NamedTuple):
    chat: str
    since: float
    """When it was paired, in seconds since 1970: older messages are not read."""


class BridgeInbox(Protocol):
    """Where a bridge delivers what comes in, and what it may look up."""

    async def hear(self, incoming: Incoming) -> None:
        """Returns when it is stored or need not be; only then may the bridge confirm it to the chat app."""
        ...

    async def lay_aside(self, key: str, error: str) -> None:
        """Record an update that cannot be read: the owner is shown it, and later updates go on."""
        ...

    async def knows(self, key: str) -> bool:
        """Whether this key was delivered before and is settled."""
        ...

    async def chats(self) -> list[PairedChat]:
        """The paired chats."""
        ...

    async def heard_lately(self, chat: str) -> list[str]:
        """The keys of the newest messages that came from a chat and still stand, newest first."""
        ...


class SendTrouble(Exception):
    """A post did not go out as it should."""


class Flooded(SendTrouble):
    """The chat app says to wait; nothing was sent."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"told to wait {seconds:.1f} s")
        self.seconds = seconds


class NotSent(SendTrouble):
    """The post was certainly not sent. `is_final`: another try would fail too."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final


class NotReached(NotSent):
    """The chat app cannot be reached: the post was certainly not sent, and the wait does not count as a try."""


class Unsure(SendTrouble):
    """The post may have been sent or not: the connection broke before the answer."""


class ChatMoved(SendTrouble):
    """The post was not sent: the chat has a new id."""

    def __init__(self, chat: ChatRef) -> None:
        super().__init__(f"the chat is now {chat.id}")
        self.chat = chat


class FloodRule(Struct, frozen=True):
    """How fast posts may follow each other in one chat."""

    seconds: float
    """Between two posts."""
    per_minute: int


class Bridge(Protocol):
    name: DoorName
    max_size: int
    """The largest post, as `size` measures it."""

    def size(self, text: str) -> int: ...
    def flood_rule(self, kind: ChatKind) -> FloodRule: ...
    def can_speak_as(self, agent: str) -> bool:
        """Whether an agent has an identity of its own in the chat app."""
        ...

    async def run(self, inbox: BridgeInbox) -> None:
        """Connect and deliver what people write, until cancelled."""
        ...

    async def send(self, post: BridgePost) -> str:
        """Send a post and return its id in the chat app. Raises a SendTrouble."""
        ...

    async def show_typing(self, chat: str, speaker: str) -> None:
        """Show that somebody is typing; a failure is ignored."""
        ...

    def has_drafts(self, kind: ChatKind) -> bool:
        """Whether an answer can be shown there while it grows."""
        ...

    async def show_draft(self, chat: str, speaker: str, turn: str, text: str) -> None:
        """Show an answer as far as it has grown; a failure is ignored. The final post replaces it."""
        ...

    async def edit(self, post: BridgePost) -> None:
        """Show a post's text in place of what it said, without buttons. It may be done twice. A post that is gone is no
        trouble; anything else raises a SendTrouble."""
        ...
