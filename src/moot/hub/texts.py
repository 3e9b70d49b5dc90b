"""What callers write: whether a text can be stored, and which message an address means."""

from moot.errors import BadText, BadValue
from moot.model.ids import ConversationId, parse_address
from moot.rules.text import TextProblem, check_text

LONGEST_NUMBER = 18
"""Digits that surely fit the store."""
PROBLEMS = {
    "type": "it is not a text",
    "empty": "it is empty",
    "nul": "it holds U+0000",
    "surrogate": "it is not valid Unicode",
    "too_long": "it is too long",
}


def storable(text: str, limit_bytes: int) -> str:
    try:
        return check_text(text, limit_bytes=limit_bytes)
    except TextProblem as problem:
        raise BadText(
            f"the text cannot be stored: {PROBLEMS[problem.problem]}",
            detail=f"expected {problem.expected}",
            problem=problem.problem,
        ) from problem


def is_number(text: str) -> bool:
    return text.isascii() and text.isdecimal() and len(text) <= LONGEST_NUMBER


def address_of(id: str) -> tuple[ConversationId, int]:
    try:
        where, seq = parse_address(id)
        return where, min(seq, 10**LONGEST_NUMBER)
    except ValueError as problem:
        raise BadValue(str(problem)) from problem


def seq_of(reply_to: str | int | None) -> int:
    if reply_to is None:
        return 0
    return reply_to if isinstance(reply_to, int) else address_of(reply_to)[1]
