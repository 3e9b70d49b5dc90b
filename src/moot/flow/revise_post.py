"""Revise a post: another text takes the place of what it said in a chat elsewhere, or of what it was going to say.

It is queued again, and sent by changing the message that is there. Above: bridges, when somebody has chosen.
"""

from msgspec import Struct, structs

from moot.model.change import Decision
from moot.model.moment import Moment
from moot.model.records.chat_apps.bridge import BRIDGE_POSTS, BridgePost, BridgePostState
from moot.ports import Scope
from moot.rules.draft import Draft, Seen


class RevisePost(Struct, frozen=True, gc=False):
    id: str
    text: str


def scope(command: RevisePost) -> Scope:
    return Scope(records=(BRIDGE_POSTS.one(command.id),))


def decide(command: RevisePost, seen: Seen, at: Moment) -> Decision[BridgePost | None]:
    """The post as it is now; None where it cannot be changed."""
    post = seen.record(BRIDGE_POSTS, command.id)
    if post is None or not may_change(post):
        return Decision([], None)
    draft = Draft(seen, at)
    post = put_text(draft, post, command.text)
    return Decision(draft.changes(), post)


def may_change(post: BridgePost) -> bool:
    """Whether it is there, or not under way yet. What became of one under way is not known."""
    is_done = post.state is BridgePostState.SENT and post.is_there
    return is_done or post.state is BridgePostState.QUEUED


def put_text(draft: Draft, post: BridgePost, text: str) -> BridgePost:
    if post.text == text:
        return post
    buttons = post.buttons if post.is_there else ()  # those that are there are taken away with the old text
    state = BridgePostState.QUEUED
    post = structs.replace(post, text=text, state=state, tries=0, due=0.0, error="", buttons=buttons)
    return draft.put(BRIDGE_POSTS, structs.replace(post, updated_at=draft.at.now))
