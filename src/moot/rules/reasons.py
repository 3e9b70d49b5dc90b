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
from moot.model.turn import Rule, Turn, TurnState
from moot.rules.floor.seats import LARGE

REASONS: Final[dict[Rule, str]] = {
    Rule.MENTION: "was mentioned",
    Rule.FORCE: "was asked by name",
    Rule.DIRECT: "is the one addressed in this conversation",
    Rule.POLL: "was offered a turn and could pass",
    Rule.REACT: "was offered another turn because others spoke after it",
    Rule.ROUND_ROBIN: "is next in the rotation",
    Rule.TASK: "works on the task",
    Rule.ASK: "was asked a question that wants an answer",
    Rule.STRATEGY: "was not asked",
    Rule.SEEN: "read it in a turn it had for another message",
    Rule.REST: "keeps passing and sits this round out",
    Rule.CAP: "found no turn left in this round",
    Rule.DEPTH: "would answer an answer to an answer: the round's depth is used up",
    Rule.CHAIN: "is beyond the limit of this chain of agent turns",
    Rule.COOLDOWN: "spoke a moment ago",
    Rule.LINK: "is not linked",
    Rule.PAIR_LIMIT: "gets too many messages from this sender",
    Rule.BUDGET: "has used up its turns of this hour",
    Rule.NO_PROGRESS: "is part of an exchange that made no progress",
    Rule.PAUSED: "is paused",
    Rule.AWAY: "is away",
    Rule.SELF: "wrote it",
    Rule.DELETED: "is not asked any more: the message was deleted",
}
"""What each rule means anywhere."""
NOBODYS: Final = {Kind.SYSTEM: "a notice", Kind.TOOL: "what a tool answers"}
"""Messages that nobody wrote."""
GAVE_UP: Final = ("could not ", "kept calling ", "needs a review")
"""How brains on models begin to say why they did not answer (brains/llm/brain.py)."""
REMOVED: Final = "was removed: nobody answers for it"


class Case(Struct, frozen=True, gc=False):
    """One agent and one message, with what holds where it was said."""

    who: Participant
    message: Message
    conversation: Conversation
    settings: GroupSettings
    limits: Limits
    round: Round | None = None
    members: int = 0
    """How many agents take part."""


def reason(rule: Rule, case: Case) -> str:
    """What the rule means for this agent and this message."""
    if rule is Rule.STRATEGY and 0 < case.who.removed_at <= case.message.at:
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
        return "it was stopped while it spoke"
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
        return "was not mentioned: an agent's message asks only those it names"
    if strategy is ReplyStrategy.ROUND_ROBIN:
        return "was not next in the rotation: reply_strategy is round_robin"
    return "was not asked: the message was for those it names"


def _no_slot(case: Case) -> str:
    """Which of the limits of a round was reached first."""
    settings, round_ = case.settings, case.round
    if round_ is not None and round_.used < round_.cap:
        if round_.volunteers >= settings.max_voluntary_responders:
            return f"came too late: max_voluntary_responders is {settings.max_voluntary_responders}"
        if case.members >= LARGE and round_.polled >= settings.max_voluntary_polls:
            return f"was not offered a turn: max_voluntary_polls is {settings.max_voluntary_polls}"
    if round_ is not None and round_.cap != settings.max_agent_turns_per_message:
        return f"found no turn left: this message was given {round_.cap}"
    return f"found no turn left: max_agent_turns_per_message is {settings.max_agent_turns_per_message}"


def _too_deep(case: Case) -> str:
    return f"would answer an answer too deep in the round: max_depth is {case.settings.max_depth}"


def _end_of_chain(case: Case) -> str:
    turns, depth = case.limits.chain_turns, case.limits.chain_depth
    return f"is at the end of the chain of agent turns: chain_turns is {turns}, chain_depth is {depth}"


def _rests(case: Case) -> str:
    return f"keeps passing and sits this round out, as groups of {LARGE} and more do"


def _cools_down(case: Case) -> str:
    return f"spoke a moment ago: cooldown_seconds is {case.settings.cooldown_seconds:g}"


def _too_often(case: Case) -> str:
    return f"gets too many messages from this sender: pair_per_minute is {case.limits.pair_per_minute}"


def _hour_used_up(case: Case) -> str:
    return f"has used up this hour: agent_turns_per_hour is {case.limits.agent_turns_per_hour}"


def _paused(case: Case) -> str:
    return REMOVED if case.who.removed else REASONS[Rule.PAUSED]


def _away(case: Case) -> str:
    return REMOVED if case.who.removed else REASONS[Rule.AWAY]


WORDED: Final[Mapping[Rule, Callable[[Case], str]]] = {
    Rule.STRATEGY: _not_asked,
    Rule.CAP: _no_slot,
    Rule.DEPTH: _too_deep,
    Rule.CHAIN: _end_of_chain,
    Rule.REST: _rests,
    Rule.COOLDOWN: _cools_down,
    Rule.PAIR_LIMIT: _too_often,
    Rule.BUDGET: _hour_used_up,
    Rule.PAUSED: _paused,
    Rule.AWAY: _away,
}
"""Rules whose words depend on the case."""
