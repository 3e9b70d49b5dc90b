"""A conversation as lists show it."""

from msgspec import structs

from moot.model.message import ConversationGlance
from moot.shapes.shape import Names, Shape
from moot.shapes.talk import Conversation, Message

MAX_PREVIEW_CHARACTERS = 280


class LastMessage(Shape, frozen=True, rename={"sender": "from"}):
    """The beginning of the newest message."""

    id: str
    seq: int
    sender: str
    kind: str
    text: str
    """At most 280 characters."""
    at: str | None


class ListedConversation(Conversation, frozen=True):
    head: int = 0
    """Seq of the newest message; 0 if there is none."""
    unread: int = 0
    """Messages of others that you have not read, counted up to 1,000."""
    last: LastMessage | None = None

    @classmethod
    def of_glance(
        cls, conversation: Conversation, glance: ConversationGlance | None, names: Names
    ) -> "ListedConversation":
        fields = structs.asdict(conversation)
        if glance is None or glance.last is None:
            return cls(**fields)
        newest = Message.of(glance.last, names)
        last = LastMessage(
            newest.id, newest.seq, newest.sender, newest.kind, newest.text[:MAX_PREVIEW_CHARACTERS], newest.at
        )
        return cls(**fields, head=newest.seq, unread=glance.unread, last=last)
