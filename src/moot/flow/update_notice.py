"""Update the notice in a chat elsewhere that says who is waited for: one post, whose text changes until nobody is.

The chat remembers the post, in the same decision that queues it: whoever runs the bridge next says nothing a second
time. Above: bridges. Below: plan_posts.py queues, revise_post.py changes what is there.
"""

from msgspec import Struct, structs

from moot.flow import plan_posts, revise_post
from moot.model.change import Decision
from moot.model.moment import Moment
from moot.model.records.chat_apps.bridge import (
    BRIDGE_CHATS,
    BRIDGE_POSTS,
    BridgeChat,
    BridgePost,
    BridgePostState,
    PairingState,
    Piece,
)
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class UpdateNotice(Struct, frozen=True, gc=False):
    bridge: str
    chat: str
    notice: str
    """The chat's notice as it was read; empty if it had none."""
    text: str
    speaker: str = ""
    ends: bool = False
    """Nobody is waited for any more, and the text says so."""


def scope(command: UpdateNotice) -> Scope:
    posts = (BRIDGE_POSTS.one(command.notice),) if command.notice else ()
    return Scope(records=(BRIDGE_CHATS.one(command.bridge, command.chat), *posts))


def decide(command: UpdateNotice, seen: Seen, at: Moment) -> Decision[BridgeChat | None]:
    chat = seen.record(BRIDGE_CHATS, command.bridge, command.chat)
    if chat is None or chat.notice != command.notice:
        return Decision([], chat)
    draft = Draft(seen, at)
    if not command.notice:
        if not command.ends and chat.state is PairingState.PAIRED:
            named = structs.replace(chat, notice=f"{chat.bridge}/{chat.chat}/{chat.planned + 1}")
            chat = plan_posts.queue(draft, named, (Piece(command.text, speaker=command.speaker),))
        return Decision(draft.changes(), chat)
    post = seen.record(BRIDGE_POSTS, command.notice)
    if post is not None and post.state is BridgePostState.SENDING:
        return Decision([], chat)  # its result comes, and then somebody looks again
    if post is not None and post.chat == chat.chat and revise_post.may_change(post):
        _change(draft, post, command)
    if command.ends:
        chat = draft.put(BRIDGE_CHATS, structs.replace(chat, notice="", updated_at=at.now))
    return Decision(draft.changes(), chat)


def _change(draft: Draft, post: BridgePost, command: UpdateNotice) -> None:
    if post.is_there or not command.ends:
        revise_post.put_text(draft, post, command.text)
        return
    error = "nobody was waited for any more before it was sent"
    dropped = structs.replace(post, state=BridgePostState.DROPPED, error=error, updated_at=draft.at.now)
    draft.put(BRIDGE_POSTS, dropped)
