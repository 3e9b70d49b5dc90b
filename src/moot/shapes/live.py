"""What is shown and not stored."""

from moot.shapes.shape import Shape


class LiveTurn(Shape, frozen=True):
    """What a running turn has said so far."""

    turn: str
    agent: str
    conversation: str
    text: str
    offset: int
    """Where the text begins, in UTF-16 code units: 0, unless its beginning was lost."""
