"""The last words of a prompt: what is new, whose turn it is, and whether silence is a fine answer.

They are made from what is stored of the turn, so that an older turn's closing can be shown again, byte for byte,
where it stood: the next prompt then begins with all of the last one.
"""

from moot.model.turn import Duty, Rule, Turn
from moot.rules.words.silence import PASS

HUB = "[Moot]:"
"""How the hub itself speaks in a prompt. In a frame these words are only somebody's text."""

ASKED: dict[Rule, str] = {
    Rule.MENTION: "You were mentioned in #{cause}",
    Rule.FORCE: "You were called on in #{cause}",
    Rule.ROUND_ROBIN: "You are next in the rotation",
    Rule.TASK: "You were given the task in #{cause}",
    Rule.ASK: "You were asked in #{cause}",
    Rule.DIRECT: "#{cause} was written to you",
}


def closing(turn: Turn, start: int) -> str:
    """`start` is where the window of that turn began: of what is new, something may lie before it."""
    return f"{HUB} {_news(turn, start)} {_duty(turn)}"


def _news(turn: Turn, start: int) -> str:
    first, last = turn.lo + 1, turn.hi
    told = f"New since your last turn: {_span(first, last)}."
    return f"{told} Of these, {_span(first, start)} did not fit." if start > turn.lo else told


def _span(first: int, last: int) -> str:
    return f"#{last}" if first >= last else f"#{first} to #{last}"


def _duty(turn: Turn) -> str:
    asked = ASKED.get(turn.reason, "").format(cause=turn.cause)
    if turn.duty is Duty.MUST:
        return f"{asked or 'It is your turn'}: answer."
    silence = f"or reply with exactly {PASS} to stay silent."
    if turn.reason is Rule.DIRECT:
        return f"{asked}; you need not answer. Reply if it helps, {silence}"
    if turn.reason is Rule.REACT:
        return f"Others have spoken since you did. Add something only if it helps, {silence}"
    return f"Nobody asked for you by name. Speak only if you have something to add, {silence}"
