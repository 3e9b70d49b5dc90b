"""When two texts say the same, or nothing: what the no-progress detector compares (FLOOR part 7).

Above: rules/brakes counts thin texts and near-copies. Below: nothing.
Not here: how many make a loop, and what happens then.
"""

import re
from unicodedata import category, normalize

_ASCII_WORD = re.compile(r"[a-z0-9]+")


def words_key(text: str) -> str:
    """The words alone, case and punctuation dropped: near-copies have one key."""
    folded = normalize("NFC", text.casefold())
    if folded.isascii():
        return " ".join(_ASCII_WORD.findall(folded.replace("'", "")))
    folded = folded.replace("'", "").replace("’", "")  # noqa: RUF001  the apostrophe people type
    return " ".join("".join(letter if category(letter)[0] in "LNM" else " " for letter in folded).split())


def is_thin(text: str, threshold: int = 40) -> bool:
    """Whether a text is too short to carry much: under the threshold, white space around it not counted."""
    return len(text.strip()) < threshold
