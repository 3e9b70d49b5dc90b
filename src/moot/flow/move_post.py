"""Move a post along: intended before it is sent, with its result afterwards; and what people decide about it.

A chat app takes no idempotency key. What was intended and has no result may be there or not: it becomes unconfirmed, is
shown as such, and only a person sends it again. A post that is there and gets another text is the exception.
"""

from typing import Final

from msgspec import Struct, structs

from moot.errors import Conflict, NotFound, NotPermitted
from moot.flow.steps import acts, find
from moot.model.change import Decision
from moot.model.ids import ParticipantId
from moot.model.moment import Moment
from moot.model.records.audit import AuditedAct
from moot.model.records.chat_apps.bridge import (
    BRIDGE_LEASES,
    BRIDGE_POSTS,
    MAX_TRIES,
    BridgePost,
    BridgePostState,
)
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

_S = BridgePostState
MOVES: Final = {
    _S.QUEUED: frozenset({_S.SENDING, _S.DROPPED}),
    _S.SENDING: frozenset({_S.SENT, _S.QUEUED, _S.UNCONFIRMED, _S.DEAD}),
    _S.UNCONFIRMED: frozenset({_S.QUEUED, _S.DROPPED}),
    _S.DEAD: frozenset({_S.QUEUED, _S.DROPPED}),
    _S.SENT: frozenset(),
    _S.DROPPED: frozenset(),
}


class MovePost(Struct, frozen=True, gc=False):
    id: str
    bridge: str
    to: BridgePostState
    holder: str = ""
    """The hub that sends; empty where a person decides."""
    author: ParticipantId | None = None
    external: str = ""
    error: str = ""
    due: float = 0.0
    counts: bool = True
    """Whether going back to the queue uses up a try; being told to wait does not."""


def scope(command: MovePost) -> Scope:
    names = () if command.author is None else (command.author,)
    lease = BRIDGE_LEASES.one(command.bridge)
    return Scope(names=names, records=(acts.HEAD, BRIDGE_POSTS.one(command.id), lease))


def decide(command: MovePost, seen: Seen, at: Moment) -> Decision[BridgePost]:
    post = seen.record(BRIDGE_POSTS, command.id)
    if post is None or post.bridge != command.bridge:
        raise NotFound(f'no post to a chat is called "{command.id}"', what="post", ref=command.id)
    if command.author is not None and post.state is _S.SENDING:
        detail = "its result comes, or it becomes unconfirmed"
        raise Conflict(f"{post.id} is being sent at this moment", detail=detail, state=post.state.value)
    if command.to not in MOVES[post.state]:
        raise Conflict(f"{post.id} is {post.state} and cannot become {command.to}", state=post.state.value)
    draft = Draft(seen, at)
    if command.author is not None:
        decided = _decided(draft, command, post)
        return Decision(draft.changes(), decided)
    lease = seen.record(BRIDGE_LEASES, command.bridge)
    if lease is None or lease.holder != command.holder:
        raise Conflict(f"another hub runs the {command.bridge} bridge now")
    draft.put(BRIDGE_POSTS, moved := _moved(post, command, at.now))
    return Decision(draft.changes(), moved)


def _moved(post: BridgePost, command: MovePost, now: float) -> BridgePost:
    tries, state = post.tries, command.to
    if state is _S.UNCONFIRMED and post.is_there:  # a change without a result is simply made again
        state = _S.QUEUED
    if state is _S.QUEUED and command.counts:
        tries += 1
        state = _S.DEAD if tries >= MAX_TRIES else state
    return structs.replace(
        post,
        state=state,
        tries=tries,
        due=command.due,
        external=command.external or post.external,
        error=command.error,
        updated_at=now,
    )


def _decided(draft: Draft, command: MovePost, post: BridgePost) -> BridgePost:
    """Send it again from the beginning, or drop it."""
    author = draft.participant(command.author or ParticipantId(""))
    if not find.is_owner(author, draft.at):
        raise NotPermitted("only the owner may decide about posts that were not sent")
    if command.to not in (_S.QUEUED, _S.DROPPED):
        raise NotPermitted(f"a post becomes {command.to} by being sent")
    post = structs.replace(post, state=command.to, tries=0, due=0.0, error="", updated_at=draft.at.now)
    draft.put(BRIDGE_POSTS, post)
    acts.enter(draft, AuditedAct.POST_MOVED, author.id, f"post {post.id}", {"state": post.state.value})
    return post
