"""What may be said at all: a text that can be stored, encoded and shown, no longer than the limit.

Above: flow/post checks every text once, before anything else looks at it. Below: nothing.
Not here: what the text means; nothing is trimmed or changed, what is stored is what was written.

Short texts that stand in one line of something else, such as a role, are stricter: `unfit_letter` finds what would
end the line, reorder it or not be seen. A message may hold all that; where it is shown it is escaped.
"""

import re
from typing import Final, Literal, NoReturn

from moot.errors import BadText

CONTROLS: Final = "\x00-\x08\x0b-\x1f\x7f-\x9f"
"""But for tab and line feed, which messages have."""
REORDERING: Final = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
UNSEEN: Final = "\u00ad\u180e\u200b\u2060-\u2065\ufeff\U000e0000-\U000e007f"
LINE_ENDS: Final = "\u2028\u2029"
_UNFIT = re.compile(f"[\t\n{CONTROLS}{REORDERING}{UNSEEN}{LINE_ENDS}\ud800-\udfff]")

Problem = Literal["type", "empty", "nul", "surrogate", "too_long"]


class TextProblem(ValueError):
    """A text that cannot be a message, with what was expected and what was measured."""

    def __init__(
        self, problem: Problem, expected: str, *, size: int | None = None, position: int | None = None
    ) -> None:
        self.problem = problem
        self.expected = expected
        self.bytes = size  # UTF-8 bytes of the text, where they were counted
        self.position = position  # index of the first bad character, where one is to blame
        super().__init__(f"the text cannot be stored ({problem}); expected {expected}")


PROBLEMS: Final[dict[Problem, str]] = {
    "type": "it is not a text",
    "empty": "it is empty",
    "nul": "it contains U+0000",
    "surrogate": "it is not valid Unicode",
    "too_long": "it is too long",
}


def storable(text: object, limit_bytes: int, *, may_be_empty: bool = False) -> str:
    """The same text, or a refusal in plain words."""
    try:
        return check_text(text, limit_bytes=limit_bytes, may_be_empty=may_be_empty)
    except TextProblem as problem:
        raise BadText(
            f"the text cannot be stored: {PROBLEMS[problem.problem]}",
            detail=f"expected {problem.expected}",
            problem=problem.problem,
        ) from problem


def check_text(text: object, *, limit_bytes: int, may_be_empty: bool = False) -> str:
    """The same text, or a TextProblem. Short ASCII costs two looks and no copy."""
    if not isinstance(text, str):
        raise TextProblem("type", f"a text, got {type(text).__name__}")
    size = len(text)
    if not text.isascii():
        size = _utf8_bytes(text)
    if size > limit_bytes:
        raise TextProblem("too_long", f"at most {limit_bytes} bytes of UTF-8, got {size}", size=size)
    if "\0" in text:
        position = text.index("\0")
        raise TextProblem(
            "nul", f"a text without U+0000, found one at {position}", size=size, position=position
        )
    if (not text or text.isspace()) and not may_be_empty:
        raise TextProblem("empty", "at least one character that is not whitespace", size=size)
    return text


def unfit_letter(line: str) -> str:
    """The first character that cannot stand in a line of text, as `U+2028`; empty where all can."""
    if line.isascii() and line.isprintable():
        return ""
    found = _UNFIT.search(line)
    return f"U+{ord(found[0]):04X}" if found is not None else ""


def _utf8_bytes(text: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError as error:
        _refuse_surrogate(text, error.start)


def _refuse_surrogate(text: str, position: int) -> NoReturn:
    found = f"U+{ord(text[position]):04X}"
    raise TextProblem(
        "surrogate", f"valid Unicode, found the lone surrogate {found} at {position}", position=position
    ) from None
