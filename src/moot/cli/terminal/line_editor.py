"""What a person is writing: the text, where the cursor is, and what they sent before."""

import re
from collections.abc import Callable
from typing import Final

_last_word = re.compile(r"\S+\s*$").search


class LineEditor:
    def __init__(self) -> None:
        self.text = ""
        self.cursor = 0
        self._history: list[str] = []
        self._place = 0
        """Which of them is looked at; behind the last one is the draft itself."""
        self._aside = ""
        """The draft, meanwhile."""

    def set(self, text: str, cursor: int | None = None) -> None:
        self.text = text
        self.cursor = len(text) if cursor is None else max(0, min(cursor, len(text)))

    def insert(self, text: str) -> None:
        self.set(self.text[: self.cursor] + text + self.text[self.cursor :], self.cursor + len(text))

    def sent(self) -> str:
        """Take it: the draft is empty then, and can be called back."""
        text = self.text
        if text.strip() and text not in self._history[-1:]:
            self._history.append(text)
        self._place = len(self._history)
        self.set("")
        return text

    def press(self, key: str) -> bool:
        """Do what an editing key does; False for any other."""
        act = ACTS.get(key)
        if act is not None:
            act(self)
        return act is not None

    def backspace(self) -> None:
        if self.cursor:
            self.set(self.text[: self.cursor - 1] + self.text[self.cursor :], self.cursor - 1)

    def delete(self) -> None:
        self.set(self.text[: self.cursor] + self.text[self.cursor + 1 :], self.cursor)

    def left(self) -> None:
        self.set(self.text, self.cursor - 1)

    def right(self) -> None:
        self.set(self.text, self.cursor + 1)

    def home(self) -> None:
        self.set(self.text, 0)

    def end(self) -> None:
        self.set(self.text)

    def newline(self) -> None:
        self.insert("\n")

    def cut_before(self) -> None:
        self.set(self.text[self.cursor :], 0)

    def cut_after(self) -> None:
        self.set(self.text[: self.cursor])

    def cut_word(self) -> None:
        match = _last_word(self.text[: self.cursor])
        at = match.start() if match is not None else 0
        self.set(self.text[:at] + self.text[self.cursor :], at)

    def earlier(self) -> None:
        if self._place == len(self._history):
            self._aside = self.text
        if self._place:
            self._place -= 1
            self.set(self._history[self._place])

    def later(self) -> None:
        if self._place < len(self._history):
            self._place += 1
            self.set(self._history[self._place] if self._place < len(self._history) else self._aside)


ACTS: Final[dict[str, Callable[[LineEditor], None]]] = {
    "backspace": LineEditor.backspace,
    "delete": LineEditor.delete,
    "left": LineEditor.left,
    "right": LineEditor.right,
    "home": LineEditor.home,
    "end": LineEditor.end,
    "newline": LineEditor.newline,
    "cut before": LineEditor.cut_before,
    "cut after": LineEditor.cut_after,
    "cut word": LineEditor.cut_word,
    "earlier": LineEditor.earlier,
    "later": LineEditor.later,
}
