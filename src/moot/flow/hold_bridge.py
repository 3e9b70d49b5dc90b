"""Hold a bridge: one hub at a time runs it, by a lease. Whoever takes over settles what its predecessor left half done.

Posts that were intended and have no result become unconfirmed, also those that were intended beside a take-over, or
whose result was given up: whatever nobody claims for as long as a lease lasts. Commands that were begun are laid
aside. Both may have happened, and neither is done twice. A new text for a post that is there is sent again: once more
does no harm.
"""

from msgspec import Struct, structs

from moot.model.change import Decision
from moot.model.moment import Moment
from moot.model.records.chat_apps.bridge import (
    ARRIVALS,
    BRIDGE_LEASES,
    BRIDGE_POSTS,
    ArrivalState,
    BridgeLease,
    BridgePostState,
)
from moot.ports import Scope
from moot.rules.draft import Draft, Seen

INTENDED = BRIDGE_POSTS.where(state=BridgePostState.SENDING)
BEGUN = ARRIVALS.where(state=ArrivalState.BEGUN)


class HoldBridge(Struct, frozen=True, gc=False):
    bridge: str
    holder: str
    seconds: float
    release: bool = False
    """Others may take it at once."""
    sending: tuple[str, ...] = ()
    """Posts that the holder is sending: it will say what came of them."""


def scope(command: HoldBridge) -> Scope:
    return Scope(records=(BRIDGE_LEASES.one(command.bridge), INTENDED, BEGUN))


def decide(command: HoldBridge, seen: Seen, at: Moment) -> Decision[BridgeLease]:
    lease = seen.record(BRIDGE_LEASES, command.bridge)
    is_mine = lease is not None and lease.holder == command.holder
    draft = Draft(seen, at)
    if command.release:
        if lease is not None and is_mine:
            lease = structs.replace(lease, until=at.now)
            draft.put(BRIDGE_LEASES, lease)
        return Decision(draft.changes(), lease or BridgeLease(command.bridge, "", at.now))
    if lease is not None and not is_mine and lease.until > at.now:
        return Decision([], lease)
    fence = 1 if lease is None else lease.fence + (not is_mine)
    held = BridgeLease(command.bridge, command.holder, at.now + command.seconds, fence)
    draft.put(BRIDGE_LEASES, held)
    _settle_posts(draft, command, is_mine=is_mine)
    if not is_mine:
        _settle_commands(draft, command.bridge)
    return Decision(draft.changes(), held)


def _settle_posts(draft: Draft, command: HoldBridge, *, is_mine: bool) -> None:
    now = draft.at.now
    for post in draft.seen.records(INTENDED):
        is_claimed = is_mine and (post.id in command.sending or post.updated_at > now - command.seconds)
        if post.bridge == command.bridge and not is_claimed:
            state = BridgePostState.QUEUED if post.is_there else BridgePostState.UNCONFIRMED
            error = "nobody knows what came of sending it"
            draft.put(BRIDGE_POSTS, structs.replace(post, state=state, error=error, updated_at=now))


def _settle_commands(draft: Draft, bridge: str) -> None:
    for arrival in draft.seen.records(BEGUN):
        if arrival.bridge == bridge:
            error = "the hub stopped while this command was carried out; it may have been done"
            draft.put(ARRIVALS, structs.replace(arrival, state=ArrivalState.DEAD, error=error))
