"""An answer as it comes in, piece by piece, within bounds.

Above: the adapters feed it. Below: the prompt's values.
"""

from typing import Final

from moot.model.prompt import ModelAnswer, ToolCall, Usage

MAX_TEXT_CHARACTERS: Final = 4 << 20
"""A message may have far less."""
MAX_ARGUMENT_CHARACTERS: Final = 256 << 10
"""Of all calls together. OpenAI's library joins all pieces again for each new one, which is slow with more."""
MAX_CALLS: Final = 256


class AnswerTooLarge(Exception):
    """An answer exceeds one of the limits above."""


class PartialAnswer:
    def __init__(self, model: str) -> None:
        self.usage = Usage(calls=1, model=model)
        self.cut = False
        self.is_whole = False
        """The provider said that the answer is complete."""
        self.is_refused = False
        self._text: list[str] = []
        self._calls: dict[int, list[str]] = {}
        self._characters = 0
        self._argument_characters = 0

    def add_text(self, text: str) -> str:
        self._characters += len(text)
        if self._characters > MAX_TEXT_CHARACTERS:
            raise AnswerTooLarge
        self._text.append(text)
        return text

    def add_call(self, position: int, identity: str, name: str) -> None:
        if len(self._calls) >= MAX_CALLS:
            raise AnswerTooLarge
        self._calls[position] = [identity, name]

    def add_arguments(self, position: int, part: str) -> None:
        self.count_arguments(part)
        self._calls[position].append(part)

    def add_whole_call(self, identity: str, name: str, arguments: str) -> None:
        """A call whose arguments were counted piece by piece and joined elsewhere."""
        self.add_call(len(self._calls), identity, name)
        self._calls[len(self._calls) - 1].append(arguments)

    def finished(self) -> ModelAnswer:
        calls = tuple(
            ToolCall(identity, name, "".join(parts) or "{}")
            for _, (identity, name, *parts) in sorted(self._calls.items())
        )
        return ModelAnswer("".join(self._text), calls, self.usage, self.cut)

    def count_arguments(self, arguments: str) -> None:
        """Count arguments that are kept elsewhere until the end."""
        self._argument_characters += len(arguments)
        if self._argument_characters > MAX_ARGUMENT_CHARACTERS:
            raise AnswerTooLarge
