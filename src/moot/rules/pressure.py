"""How close each brake is to biting, by the rules that bite (brakes.py): readable before they do.

Above: hub/queries/limits.py, for people and for agents that look before they speak. Not here: counting; the rows are
those that every message and turn is charged to.
"""

from msgspec import Struct

from moot.errors import RateLimited
from moot.model.chain import Pair, Root
from moot.model.ids import ConversationId, ParticipantId
from moot.model.limits import Limits
from moot.model.participant import Quota
from moot.model.turn import RuleName
from moot.rules import brakes


class PairPressure(Struct, frozen=True, gc=False):
    """What the limiter of one direction between two agents would do with one more message now."""

    sent: int
    """In the last minute."""
    hold_seconds: float
    """How long the receiver would have to wait for it."""
    refused_seconds: float
    """How long it would be refused; 0 where it would be taken."""
    reset_seconds: float
    """Of silence until the limiter has forgotten the pair."""


def of_pair(pair: Pair, now: float, limits: Limits) -> PairPressure:
    hold = refused = 0.0
    try:
        hold = brakes.pair_send(pair, now, limits).due - now
    except RateLimited as refusal:
        refused = (refusal.retry_after_ms or 0) / 1000
    reset = max(0.0, min(pair.last, now) + limits.pair_reset_seconds - now)
    return PairPressure(len(brakes.recent_sends(pair, now)), hold, refused, reset)


class ChainPressure(Struct, frozen=True, gc=False):
    """What a chain has used of what one message of a person may lead to."""

    turns: int
    depth: int
    """Of the newest message: how many agents stand between it and the person."""
    messages: int
    alike: int
    """Of its newest agent messages here, those that are short or copies; `brakes.THIN` of them stop it."""
    stopped: RuleName | None


def of_chain(root: Root, where: ConversationId, hop: int, limits: Limits) -> ChainPressure:
    window = next((tail.window for tail in root.tails if tail.conversation == where), ())
    stopped = brakes.root_stop(root, limits)
    if stopped is None and not brakes.hop_allowed(hop, root, limits):
        stopped = RuleName.CHAIN
    return ChainPressure(
        root.turns, max(0, hop - root.base_hop), root.messages, brakes.thin_messages(window), stopped
    )


class HourPressure(Struct, frozen=True, gc=False):
    """What an agent has used of its hour."""

    turns: int
    chains: int
    left_seconds: float


def of_hour(quota: Quota, agent: ParticipantId, now: float) -> HourPressure:
    used = brakes.quota_now(quota, agent, now)
    return HourPressure(used.turns, used.roots, (used.hour + 1) * brakes.HOUR - now)
