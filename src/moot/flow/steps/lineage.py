"""Whose words, on which chain: what the hub knows about a message before it is made.

post.py asks: the turn it is said in, its root and hop, the slot it takes, and the pair limiter.
"""

from msgspec import Struct, structs

from moot.errors import NotFound, NotPermitted, RateLimited
from moot.flow.steps import find
from moot.model.chain import Root
from moot.model.ids import NO_ROOT, RootId, TurnId, address
from moot.model.participant import EXTERNAL, TAKES_TURNS, Participant
from moot.model.turn import Turn
from moot.rules import brakes
from moot.rules.room import Room

STILL_ITS_CHAIN = 600.0
"""What an outside agent posts so soon after a closed turn still belongs to that turn's chain."""


def current_turn(room: Room, author: Participant, said_in: TurnId | None, fence: int) -> Turn | None:
    """The running turn in which an agent posts by tool; for an outside agent, the one it has open."""
    if said_in is not None:
        turn = find.running(room.draft.seen, said_in, fence)
        if turn.agent != author.id:
            raise NotPermitted(f"turn {turn.id} belongs to {turn.agent}; {author.name} cannot speak in it")
        return turn
    if author.kind is not EXTERNAL:
        return None
    return max(room.draft.seen.running_of(author.id), key=lambda running: running.started_at, default=None)


class Descent(Struct, frozen=True, gc=False):
    """What the hub knows about a message that is to be said: no client can set it."""

    chain: Root
    hop: int = 0
    due: float = 0.0
    """When it may wake the one it is for."""


def descent(
    room: Room, author: Participant, turn: Turn | None, text: str, *, by_tool: bool = False
) -> Descent:
    """The chain of the next message. What a person says of its own accord begins one; an agent's words count
    on theirs, and between two agents they pass the limiter."""
    own = RootId(address(room.id, room.conversation.next_seq))
    if turn is None and author.kind not in TAKES_TURNS:
        return Descent(Root(own))
    root, hop = _of(room, author, turn)
    chain = (room.draft.root(root) if root else None) or Root(root or own)
    if not author.speaks_in_turns:
        return Descent(chain, hop)
    if by_tool:
        brakes.check_chain_messages(chain, room.conversation.name, room.draft.at.terms.limits)
    due = room.floor.pair_due(room, author)
    chain = brakes.spoke(chain, room.id, author.id, text)
    room.draft.put_root(chain)
    return Descent(chain, hop, due)


def _of(room: Room, author: Participant, turn: Turn | None) -> tuple[RootId, int]:
    """Root and hop. An empty root means the message starts its own."""
    if turn is not None:
        return turn.root, turn.hop
    quota = brakes.quota_now(room.draft.quota(author.id), author.id, room.now)
    if quota.last_ended and room.now - quota.last_ended <= STILL_ITS_CHAIN:
        return RootId(quota.last_root), quota.last_hop
    limits = room.draft.at.terms.limits
    if quota.roots >= limits.agent_roots_per_hour:
        raise RateLimited(
            f"{author.name} has started {quota.roots} chains of its own in this hour",
            detail=f"at most {limits.agent_roots_per_hour} an hour are allowed",
            retry_after_ms=round((brakes.HOUR - room.now % brakes.HOUR) * 1000),
        )
    room.draft.put_quota(structs.replace(quota, roots=quota.roots + 1))
    return NO_ROOT, 0


def checked_reply(room: Room, reply_to: int) -> int:
    if reply_to < 0 or reply_to >= room.conversation.next_seq:
        raise NotFound(
            f"there is no message {reply_to} in {room.conversation.name} to reply to",
            what="message",
            ref=address(room.id, reply_to),
        )
    return reply_to
