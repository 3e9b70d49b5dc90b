"""What callers write: whether a text can be stored, which message an address means, which names were meant."""

from msgspec import structs

from moot.errors import BadText, BadValue
from moot.model.answer import Receipt, Warned
from moot.model.ids import ConversationId, parse_address
from moot.rules.mentions import nearest
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


def with_near_names(receipt: Receipt, known: list[str]) -> Receipt:
    if not any(warning.code == "E201" for warning in receipt.warnings):
        return receipt
    return structs.replace(receipt, warnings=tuple(near(warning, known) for warning in receipt.warnings))


def near(warning: Warned, known: list[str]) -> Warned:
    """A warning about unknown names, with those that may have been meant."""
    found = [name for token in warning.names[:3] for name in nearest(token, known)]
    if warning.code != "E201" or not found:
        return warning
    return Warned(warning.code, f"{warning.message}; did you mean {', '.join(found)}?", warning.names)


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
