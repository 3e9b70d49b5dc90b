"""The port of a bridge: what it brings in, how it takes what goes out, and how sending can fail.

Above: worker.py runs one. Below: telegram/ and discord/ speak to their chat app; moot.testing has one in memory. A
bridge keeps nothing: whatever must survive is in the store before it tells its chat app that it has it.
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


class Wrote(Struct, frozen=True):
    """Somebody wrote something. `key` is the same for every delivery of it, by whichever bot."""

    key: str
    chat: ChatRef
    account: AccountRef
    text: str
    agent: str = ""
    """Whose bot heard it; empty where one bot reads for all."""
    message: str = ""
    """What the chat app calls it."""
    reply_to: str = ""
    """What the chat app calls the message it answers."""
    reply_key: str = ""
    """By which that was heard, if a person wrote it."""
    replied_agent: str = ""
    """Whose bot wrote that, where its id does not tell."""
    is_addressed: bool = False
    """It is meant for a bot, whatever the words are."""


class Rewrote(Struct, frozen=True):
    """Somebody changed what was heard before. Its key begins with that one's, up to `#` (see `edit_key`)."""

    key: str
    chat: ChatRef
    account: AccountRef
    text: str
    agent: str = ""


class Erased(Struct, frozen=True):
    """Somebody deleted what was heard before: its author or a moderator, which is not told."""

    key: str
    """Of what was deleted."""
    chat: ChatRef


def edit_key(key: str, at: int, text: str) -> str:
    """The key of an edit: of what was heard under `key`, at this second, to this text. There may be two in a second."""
    return f"{key}#{at}#{sha256(text.encode()).hexdigest()[:12]}"


class ChatSeen(Struct, frozen=True):
    """A bot is in a chat, has left it, or the chat has another id now."""

    chat: ChatRef
    agent: str = ""
    left: bool = False
    moved_from: str = ""
    notice: str = ""
    """What has to be said there, once."""


class Pressed(Struct, frozen=True):
    """Somebody pressed a button under one of our posts."""

    key: str
    chat: ChatRef
    account: AccountRef
    message: str
    """What the chat app calls the post."""
    choice: int
    """Which button, from 0."""
    agent: str = ""


Incoming: TypeAlias = Wrote | Rewrote | Erased | ChatSeen | Pressed


class PairedChat(NamedTuple):
    chat: str
    since: float
    """Nothing older is its business, in seconds since 1970."""


class Ears(Protocol):
    """Where a bridge brings what it hears, and what it may ask."""

    async def hear(self, incoming: Incoming) -> None:
        """Return when it is stored, or needs not to be; only then may the chat app be told."""
        ...

    async def lay_aside(self, key: str, error: str) -> None:
        """Something came that cannot be read: it is shown to the owner, and does not stop what follows."""
        ...

    async def knows(self, key: str) -> bool:
        """Whether something was heard before, and nothing more becomes of it."""
        ...

    async def chats(self) -> list[PairedChat]:
        """Those that are paired."""
        ...


class SendTrouble(Exception):
    """A post did not go out as it should."""


class Flooded(SendTrouble):
    """The chat app says to wait; nothing was sent."""

    def __init__(self, seconds: float) -> None:
        super().__init__(f"told to wait {seconds:.1f} s")
        self.seconds = seconds


class NotSent(SendTrouble):
    """It was surely not sent. `is_final`: trying again would change nothing."""

    def __init__(self, reason: str, *, is_final: bool = False) -> None:
        super().__init__(reason)
        self.is_final = is_final


class NotReached(NotSent):
    """There is no way to the chat app now: it was surely not sent, and waiting for a way uses up no try."""


class Unsure(SendTrouble):
    """It may have been sent or not: the connection broke before the answer."""


class ChatMoved(SendTrouble):
    """It was not sent: the chat has another id."""

    def __init__(self, chat: ChatRef) -> None:
        super().__init__(f"the chat is now {chat.id}")
        self.chat = chat


class FloodRule(Struct, frozen=True):
    """How fast may be posted into one chat."""

    seconds: float
    """Between two posts."""
    per_minute: int


class Bridge(Protocol):
    name: DoorName
    longest: int
    """How large a post may be, as `size` measures it."""

    def size(self, text: str) -> int: ...
    def flood_rule(self, kind: ChatKind) -> FloodRule: ...
    def can_speak_as(self, agent: str) -> bool:
        """Whether an agent has an identity of its own there."""
        ...

    async def run(self, ears: Ears) -> None:
        """Connect and bring in what is written, until cancelled."""
        ...

    async def send(self, post: BridgePost) -> str:
        """Post it; what the chat app calls it from now on. Raises one of the troubles above."""
        ...

    async def show_typing(self, chat: str, speaker: str) -> None:
        """Show that somebody writes; it may fail, and nobody minds."""
        ...

    def has_drafts(self, kind: ChatKind) -> bool:
        """Whether an answer can be shown there while it grows."""
        ...

    async def show_draft(self, chat: str, speaker: str, turn: str, text: str) -> None:
        """Show what somebody has said so far; it may fail, and nobody minds. The post that follows takes its place."""
        ...

    async def close_buttons(self, post: BridgePost, text: str) -> None:
        """Take the buttons away from under a post, and say what was chosen; it may fail, and nobody minds."""
        ...
