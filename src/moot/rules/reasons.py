"""Why an agent has its part in a message, in words: what the rule means here, and the setting behind it by its name.

Above: hub/queries/why.py and hub/commands/advice.py, which read the circumstances. Beside it: why.py, which decides
the rule. A sentence goes on from the agent's name: "was mentioned".
"""

from collections.abc import Callable, Mapping
from typing import Final

from msgspec import Struct

from moot.model.conversation import Conversation, GroupSettings, ReplyStrategy
from moot.model.limits import Limits
from moot.model.message import Message
from moot.model.participant import TAKES_TURNS, Kind, Participant
from moot.model.round import Round
from moot.model.turn import RuleName, Turn, TurnState
from moot.rules.floor.seats import LARGE

REASONS: Final[dict[RuleName, str]] = {
    RuleName.MENTION: "was mentioned",
    RuleName.FORCE: "was asked by name",
    RuleName.DIRECT: "is the one addressed in this conversation",
    RuleName.POLL: "was offered a turn and could pass",
    RuleName.REACT: "was offered another turn because others spoke after it",
    RuleName.ROUND_ROBIN: "is next in the rotation",
    RuleName.TASK: "is working on the task",
    RuleName.ASK: "was asked a question that expects an answer",
    RuleName.STRATEGY: "was not asked",
    RuleName.SEEN: "read it in its turn for another message",
    RuleName.REST: "keeps passing, so it sits this round out",
    RuleName.CAP: "got no turn: this round has none left",
    RuleName.DEPTH: "got no turn: the round reached its maximum depth",
    RuleName.CHAIN: "got no turn: this chain of agent turns reached its limit",
    RuleName.COOLDOWN: "spoke a moment ago",
    RuleName.LINK: "got no turn: no link that is on joins it with the sender",
    RuleName.PAIR_LIMIT: "is getting too many messages from this sender",
    RuleName.BUDGET: "has used its turns for this hour",
    RuleName.NO_PROGRESS: "is part of an exchange that made no progress",
    RuleName.PAUSED: "is paused",
    RuleName.AWAY: "is away",
    RuleName.SELF: "wrote it",
    RuleName.DELETED: "is no longer asked: the message was deleted",
}
"""What each rule means anywhere."""
NOBODYS: Final = {Kind.SYSTEM: "a notice", Kind.TOOL: "a tool's result"}
"""Messages that nobody wrote."""
GAVE_UP: Final = ("could not ", "kept calling ", "needs a review")
"""How brains on models begin to say why they did not answer (brains/llm/brain.py)."""
REMOVED: Final = "was removed and no longer answers"


class Case(Struct, frozen=True, gc=False):
    """One agent and one message, with what holds where it was said."""

    participant: Participant
    message: Message
    conversation: Conversation
    settings: GroupSettings
    limits: Limits
    round: Round | None = None
    members: int = 0
    """How many agents take part."""


def reason(rule: RuleName, case: Case) -> str:
    """What the rule means for this agent and this message."""
    if rule is RuleName.STRATEGY and 0 < case.participant.removed_at <= case.message.at:
        return REMOVED
    worded = WORDED.get(rule)
    return worded(case) if worded is not None else REASONS[rule]


def error(turn: Turn | None) -> str:
    """What went wrong in a turn that failed or expired; empty where nothing did."""
    if turn is None or turn.state not in (TurnState.FAILED, TurnState.EXPIRED):
        return ""
    return turn.error or (REASONS[turn.rule] if turn.rule is not None else turn.state.value)


def stage(turn: Turn | None) -> str:
    """Where a turn stands that neither answers nor ends by itself; goes on from an agent's part. Empty for others."""
    if turn is not None and turn.state is TurnState.OWED:
        return "it is away, and the message waits for it"
    if turn is not None and turn.state is TurnState.CANCELLED and turn.interrupted:
        return "it was stopped while speaking"
    return ""


def failure(error: str) -> str:
    """The same as a sentence that goes on from a name: a brain that gave up has said itself what it could not do."""
    return error if error.startswith(GAVE_UP) else f"failed: {error}"


def _not_asked(case: Case) -> str:
    """Nobody's rule but the conversation's: which it is depends on what was said where."""
    strategy = case.settings.reply_strategy
    if case.message.kind in NOBODYS:
        return f"was not asked: {NOBODYS[case.message.kind]} asks nobody"
    if not case.conversation.takes_rounds:
        return "was not asked: the message was for somebody else"
    if strategy is ReplyStrategy.MENTION_ONLY:
        return "was not mentioned, and reply_strategy is mention_only"
    if case.message.kind in TAKES_TURNS:
        return "was not mentioned: an agent's message asks only the agents it names"
    if strategy is ReplyStrategy.ROUND_ROBIN:
        return "was not next in the rotation: reply_strategy is round_robin"
    return "was not asked: the message was for the agents it names"


def _no_slot(case: Case) -> str:
    """Which of the limits of a round was reached first."""
    settings, round_ = case.settings, case.round
    if round_ is not None and round_.used < round_.cap:
        if round_.volunteers >= settings.max_voluntary_responders:
            return f"was too late: max_voluntary_responders is {settings.max_voluntary_responders}"
        if case.members >= LARGE and round_.polled >= settings.max_voluntary_polls:
            return f"was not offered a turn: max_voluntary_polls is {settings.max_voluntary_polls}"
    if round_ is not None and round_.cap != settings.max_agent_turns_per_message:
        return f"got no turn: this message was limited to {round_.cap}"
    return f"got no turn: max_agent_turns_per_message is {settings.max_agent_turns_per_message}"


def _too_deep(case: Case) -> str:
    return f"got no turn at this depth of the round: max_depth is {case.settings.max_depth}"


def _end_of_chain(case: Case) -> str:
    turns, depth = case.limits.chain_turns, case.limits.chain_depth
    return f"got no turn: the chain reached its limit (chain_turns is {turns}, chain_depth is {depth})"


def _rests(case: Case) -> str:
    return f"keeps passing, so it sits this round out (in groups of {LARGE} or more)"


def _cools_down(case: Case) -> str:
    return f"spoke a moment ago: cooldown_seconds is {case.settings.cooldown_seconds:g}"


def _too_often(case: Case) -> str:
    return f"is getting too many messages from this sender: pair_per_minute is {case.limits.pair_per_minute}"


def _hour_used_up(case: Case) -> str:
    return f"has used its turns for this hour: agent_turns_per_hour is {case.limits.agent_turns_per_hour}"


def _paused(case: Case) -> str:
    if case.participant.removed:
        return REMOVED
    return "only watches" if case.participant.only_watches else REASONS[RuleName.PAUSED]


def _away(case: Case) -> str:
    return REMOVED if case.participant.removed else REASONS[RuleName.AWAY]


WORDED: Final[Mapping[RuleName, Callable[[Case], str]]] = {
    RuleName.STRATEGY: _not_asked,
    RuleName.CAP: _no_slot,
    RuleName.DEPTH: _too_deep,
    RuleName.CHAIN: _end_of_chain,
    RuleName.REST: _rests,
    RuleName.COOLDOWN: _cools_down,
    RuleName.PAIR_LIMIT: _too_often,
    RuleName.BUDGET: _hour_used_up,
    RuleName.PAUSED: _paused,
    RuleName.AWAY: _away,
}
"""Rules whose words depend on the case."""
