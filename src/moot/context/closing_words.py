"""The last words of a prompt: what is new, whose turn it is, and whether silence is a fine answer.

They are made from what is stored of the turn, so that an older turn's closing can be shown again, byte for byte,
where it stood: the next prompt then begins with all of the last one.
"""

from moot.model.turn import Duty, RuleName, Turn
from moot.rules.words.silence import PASS

HUB = "[Moot]:"
"""How the hub itself speaks in a prompt. In a frame these words are only somebody's text."""

REASONS: dict[RuleName, str] = {
    RuleName.MENTION: "You were mentioned in #{cause}",
    RuleName.FORCE: "You were asked by name in #{cause}",
    RuleName.ROUND_ROBIN: "You are next in the rotation",
    RuleName.TASK: "#{cause} is about a task of yours",
    RuleName.ASK: "You were asked in #{cause}",
    RuleName.DIRECT: "#{cause} was written to you",
}


def closing(turn: Turn, start: int) -> str:
    """`start` is where the window of that turn began: of what is new, something may lie before it."""
    return f"{HUB} {_news(turn, start)} {_duty(turn)}"


def _news(turn: Turn, start: int) -> str:
    first, last = turn.lo + 1, turn.hi
    news = f"New since your last turn: {_span(first, last)}."
    return f"{news} Of these, {_span(first, start)} did not fit." if start > turn.lo else news


def _span(first: int, last: int) -> str:
    return f"#{last}" if first >= last else f"#{first} to #{last}"


def _duty(turn: Turn) -> str:
    reason = REASONS.get(turn.reason, "").format(cause=turn.cause)
    if turn.duty is Duty.MUST:
        shaped = ", and with nothing but what its author expects" if turn.shape else ""
        return f"{reason or 'It is your turn'}: answer{shaped}."
    silence = f"or reply with exactly {PASS} to stay silent."
    if turn.reason is RuleName.DIRECT:
        return f"{reason}; you need not answer. Reply if it helps, {silence}"
    if turn.reason is RuleName.REACT:
        return f"Others have spoken since you did. Add something only if it helps, {silence}"
    return f"Nobody asked you by name. Speak only if you have something to add, {silence}"
