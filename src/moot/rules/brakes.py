"""What stops agents from going on for ever. All brakes are here; flow.post and the floor ask them.

Slots and depth per round live in the floor, because they decide who is asked; here is what holds over all
conversations: chain caps, the pair limiter, the no-progress detector, hourly quotas and cooldown. What agents may spend
is in budgets.py.
"""

from collections.abc import Sized

from msgspec import Struct, structs

from moot.errors import Braked, RateLimited
from moot.model.chain import ChainTail, Pair, Root, Spoken
from moot.model.conversation import Member
from moot.model.hint import Act, Hint
from moot.model.ids import ConversationId, ParticipantId
from moot.model.limits import Limits
from moot.model.participant import Quota
from moot.model.turn import Call, RuleName
from moot.rules.words.similar import is_thin, words_key

WINDOW = 6
"""The no-progress detector looks at this many agent messages of one root in one conversation …"""
THIN = 5
"""… and trips when this many of them are short or near-copies."""
A_PAIR = 2
MAX_QUESTIONS = 20_000
"""Waiting in one conversation."""
MINUTE = 60.0
HOUR = 3600.0


def pair_send(pair: Pair, now: float, limits: Limits) -> Pair:
    """The pair after one more send; `due` says when it may wake its receiver. Refuses over the hard cap."""
    recent = recent_sends(pair, now)
    if len(recent) >= limits.pair_per_minute:
        wait = recent[0] + MINUTE - now
        raise RateLimited(
            f"{len(recent)} messages in this minute from {pair.sender} to {pair.receiver}",
            detail=f"at most {limits.pair_per_minute} a minute are allowed from one agent to another",
            fix=(f"wait {wait:.0f} s",),
            retry_after_ms=max(1, round(wait * 1000)),
            rule=RuleName.PAIR_LIMIT.value,
        )
    gap = now - pair.last
    level, delay = pair.level, 0.0
    if not pair.last or gap >= limits.pair_reset_seconds or gap < 0:
        level = 0
    elif gap < limits.pair_window_seconds:
        delay = min(limits.pair_backoff_seconds * 2.0**level, limits.pair_backoff_max_seconds)
        level += 1
    return Pair(
        sender=pair.sender,
        receiver=pair.receiver,
        level=level,
        last=now,
        due=max(min(pair.due, now + limits.pair_backoff_max_seconds), now + delay),
        sent=(*recent, now),
    )


def recent_sends(pair: Pair, now: float) -> tuple[float, ...]:
    """When the messages of the last minute were sent, oldest first."""
    return tuple(at for at in pair.sent if now - MINUTE < at <= now)


def room_for_a_question(waiting: Sized, where: str) -> None:
    """Refuses one question too many in a conversation: each waits as a turn of its own."""
    if len(waiting) >= MAX_QUESTIONS:
        raise Braked(
            f"{len(waiting)} questions are already waiting for an answer in {where}",
            detail="questions are answered one at a time",
            fix=("wait until some of them are answered",),
            rule=RuleName.CAP.value,
        )


def hop_allowed(hop: int, root: Root | None, limits: Limits) -> bool:
    """Whether a message of this hop may still cause turns."""
    return hop - (root.base_hop if root else 0) < limits.chain_depth


def chain_stop(call: Call, root: Root | None, limits: Limits) -> RuleName | None:
    """The rule by which a chain may not have one more turn, if any. People's calls always pass."""
    if call.human:
        return None
    if not hop_allowed(call.hop, root, limits):
        return RuleName.CHAIN
    return root_stop(root, limits)


def root_stop(root: Root | None, limits: Limits) -> RuleName | None:
    """Whether a chain, whatever the message, is paused or has had all its turns."""
    if root is None:
        return None
    if root.paused is not None:
        return root.paused
    return (
        RuleName.CHAIN if root.turns >= limits.chain_turns or root.messages >= limits.chain_messages else None
    )


def check_chain_messages(root: Root, where: str, limits: Limits) -> None:
    """Refuses a message by tool on a chain on which agents have said all that one person's message may lead to. The
    last one called nobody, and where it was said the chain can be resumed."""
    if root.messages >= limits.chain_messages:
        stopped_in = root.noticed[-1] if root.noticed else where
        raise Braked(
            f"agents have sent {root.messages} messages in this chain",
            detail=f"chain_messages is {limits.chain_messages}: a person has to resume it",
            fix=(Hint(Act.CONTINUE_CHAIN, conversation=stopped_in),),
            rule=RuleName.CHAIN.value,
        )


def quota_now(quota: Quota | None, agent: ParticipantId, now: float) -> Quota:
    """The agent's allowance of this hour; a new hour starts fresh."""
    hour = int(now // HOUR)
    if quota is None:
        return Quota(agent=agent, hour=hour)
    return quota if quota.hour == hour else structs.replace(quota, hour=hour, turns=0, roots=0)


def quota_left(quota: Quota | None, agent: ParticipantId, now: float, limits: Limits) -> bool:
    return quota_now(quota, agent, now).turns < limits.agent_turns_per_hour


def cooled_at(member: Member, cooldown: float, now: float) -> float:
    """When the member may speak again in this group. A clock set back makes nobody wait longer."""
    return min(member.said_at, now) + cooldown if member.said_at else 0.0


def spoke(root: Root, conversation: ConversationId, agent: ParticipantId, text: str) -> Root:
    """The chain with one more agent message; paused when the talk makes no progress."""
    spoken = Spoken(agent=agent, short=is_thin(text), words=words_key(text)[:200])
    tails = {tail.conversation: tail for tail in root.tails}
    before = tails.get(conversation, ChainTail(conversation=conversation))
    window = (*before.window, spoken)[-WINDOW:]
    tails[conversation] = ChainTail(conversation=conversation, window=window)
    paused = RuleName.NO_PROGRESS if makes_no_progress(window) else root.paused
    return structs.replace(root, tails=tuple(tails.values()), paused=paused, messages=root.messages + 1)


def makes_no_progress(window: tuple[Spoken, ...]) -> bool:
    return len(window) >= WINDOW and thin_messages(window) >= THIN


def thin_messages(window: tuple[Spoken, ...]) -> int:
    """How many of the newest agent messages are short or copies; none where they are not of two agents."""
    if len({spoken.agent for spoken in window}) != A_PAIR:
        return 0
    words = [spoken.words for spoken in window]
    return sum(1 for spoken in window if spoken.short or words.count(spoken.words) > 1)


def continued(root: Root, conversation: ConversationId, hop: int) -> Root:
    """The chain after a person let it go on: counters and the detector's window start again."""
    tails = tuple(tail for tail in root.tails if tail.conversation != conversation)
    return structs.replace(root, turns=0, base_hop=hop, paused=None, noticed=(), tails=tails, messages=0)


# --- how close each is to biting: by the same functions, read before they do ---------------------------------


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


def pair_pressure(pair: Pair, now: float, limits: Limits) -> PairPressure:
    hold = refused = 0.0
    try:
        hold = pair_send(pair, now, limits).due - now
    except RateLimited as refusal:
        refused = (refusal.retry_after_ms or 0) / 1000
    reset = max(0.0, min(pair.last, now) + limits.pair_reset_seconds - now)
    return PairPressure(len(recent_sends(pair, now)), hold, refused, reset)


class ChainPressure(Struct, frozen=True, gc=False):
    """What a chain has used of what one message of a person may lead to."""

    turns: int
    depth: int
    """Of the newest message: how many agents stand between it and the person."""
    messages: int
    alike: int
    """Of its newest agent messages here, those that are short or copies; `THIN` of them stop it."""
    stopped: RuleName | None


def chain_pressure(root: Root, where: ConversationId, hop: int, limits: Limits) -> ChainPressure:
    window = next((tail.window for tail in root.tails if tail.conversation == where), ())
    stopped = root_stop(root, limits)
    if stopped is None and not hop_allowed(hop, root, limits):
        stopped = RuleName.CHAIN
    return ChainPressure(
        root.turns, max(0, hop - root.base_hop), root.messages, thin_messages(window), stopped
    )


class HourPressure(Struct, frozen=True, gc=False):
    """What an agent has used of its hour."""

    turns: int
    chains: int
    left_seconds: float


def hour_pressure(quota: Quota, agent: ParticipantId, now: float) -> HourPressure:
    used = quota_now(quota, agent, now)
    return HourPressure(used.turns, used.roots, (used.hour + 1) * HOUR - now)
