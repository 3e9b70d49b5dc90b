"""An answer as it comes in, piece by piece, within bounds.

Above: the adapters feed it. Below: the prompt's values.
"""

from typing import Final

from moot.model.prompt import Answered, ToolCall, Usage

MAX_TEXT: Final = 4 << 20
"""In characters; a message may have far less."""
MAX_ARGUMENTS: Final = 256 << 10
"""Of all calls together. OpenAI's library joins their pieces anew for each one: it is slow with more."""
MAX_CALLS: Final = 256


class TooMuch(Exception):
    """More than is held for one answer."""


class Hearing:
    def __init__(self, model: str) -> None:
        self.usage = Usage(calls=1, model=model)
        self.cut = False
        self.is_whole = False
        """The provider said that this was all."""
        self.is_refused = False
        self._text: list[str] = []
        self._calls: dict[int, list[str]] = {}
        self._heard = 0
        self._weighed = 0

    def hear(self, text: str) -> str:
        self._heard += len(text)
        if self._heard > MAX_TEXT:
            raise TooMuch
        self._text.append(text)
        return text

    def call(self, place: int, identity: str, name: str) -> None:
        if len(self._calls) >= MAX_CALLS:
            raise TooMuch
        self._calls[place] = [identity, name]

    def arguments(self, place: int, part: str) -> None:
        self.weigh(part)
        self._calls[place].append(part)

    def joined_call(self, identity: str, name: str, arguments: str) -> None:
        """A call whose arguments were weighed piece by piece and joined elsewhere."""
        self.call(len(self._calls), identity, name)
        self._calls[len(self._calls) - 1].append(arguments)

    def answered(self) -> Answered:
        calls = tuple(
            ToolCall(identity, name, "".join(parts) or "{}")
            for _, (identity, name, *parts) in sorted(self._calls.items())
        )
        return Answered("".join(self._text), calls, self.usage, self.cut)

    def weigh(self, arguments: str) -> None:
        """Count what is held elsewhere until the end."""
        self._weighed += len(arguments)
        if self._weighed > MAX_ARGUMENTS:
            raise TooMuch
