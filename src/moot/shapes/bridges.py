"""Chats, accounts and posts of bridges as the outside sees them."""

from moot.model.records.chat_apps import bridge as records
from moot.shapes.shape import Names, Shape, when


class ChatElsewhere(Shape, frozen=True):
    """A chat in a chat app that one of the bots is in."""

    bridge: str
    chat: str
    kind: str
    title: str
    state: str
    """`found`, `paired` or `left`."""
    conversation: str | None
    agents: tuple[str, ...]
    """Those whose bots are in it, by name: which of them was seen first is chance."""
    listener: str
    updated_at: str | None

    @classmethod
    def of(cls, chat: records.BridgeChat) -> "ChatElsewhere":
        return cls(
            bridge=chat.bridge,
            chat=chat.chat,
            kind=chat.kind.value,
            title=chat.title,
            state=chat.state.value,
            conversation=chat.conversation or None,
            agents=tuple(sorted(chat.agents)),
            listener=chat.listener,
            updated_at=when(chat.updated_at),
        )


class LinkedAccount(Shape, frozen=True):
    """Somebody's account in a chat app."""

    bridge: str
    account: str
    shown: str
    person: str
    guest: bool
    created_at: str | None

    @classmethod
    def of(cls, account: records.BridgeAccount, names: Names) -> "LinkedAccount":
        return cls(
            bridge=account.bridge,
            account=account.account,
            shown=account.shown,
            person=names(account.participant),
            guest=not account.linked,
            created_at=when(account.created_at),
        )


class NewCode(Shape, frozen=True):
    """A code that pairs one chat, shown once."""

    bridge: str
    code: str
    until: str | None


class OutgoingPost(Shape, frozen=True):
    """One piece of something said, on its way to a chat app."""

    id: str
    bridge: str
    chat: str
    message: str | None
    speaker: str
    text: str
    state: str
    """`queued`, `sending`, `sent`, `unconfirmed`, `dead` or `dropped`."""
    tries: int
    error: str
    updated_at: str | None

    @classmethod
    def of(cls, post: records.BridgePost) -> "OutgoingPost":
        return cls(
            id=post.id,
            bridge=post.bridge,
            chat=post.chat,
            message=f"{post.conversation}:{post.seq}" if post.seq else None,
            speaker=post.speaker,
            text=post.text,
            state=post.state.value,
            tries=post.tries,
            error=post.error,
            updated_at=when(post.updated_at),
        )


class UnheardMessage(Shape, frozen=True):
    """Something that came in over a bridge and could not be taken in."""

    bridge: str
    key: str
    chat: str
    account: str
    text: str
    tries: int
    error: str
    created_at: str | None

    @classmethod
    def of(cls, arrival: records.BridgeArrival) -> "UnheardMessage":
        return cls(
            bridge=arrival.bridge,
            key=arrival.key,
            chat=arrival.chat,
            account=arrival.account,
            text=arrival.text,
            tries=arrival.tries,
            error=arrival.error,
            created_at=when(arrival.created_at),
        )


class BridgeHolder(Shape, frozen=True):
    """Which hub runs a bridge."""

    bridge: str
    holder: str
    until: str | None
    is_held: bool
    """Whether its lease holds now."""
