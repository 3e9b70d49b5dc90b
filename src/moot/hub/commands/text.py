"""Whether a text can be stored, and in plain words why not."""

from moot.errors import BadText
from moot.rules.words.text import TextProblem, check_text

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
