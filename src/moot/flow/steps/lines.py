"""Short texts that stand in a line of something else, a prompt or a screen: refused where they would not stay there."""

from moot.errors import BadValue
from moot.rules.words.text import unfit_letter


def check_lines(**fields: str | None) -> None:
    for field, text in fields.items():
        if text and (letter := unfit_letter(text)):
            raise BadValue(
                f"{field} contains {letter}, which is not allowed in a line of text",
                detail="expected one line without control, bidi or invisible characters",
            )
