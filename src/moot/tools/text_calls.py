"""Calls written into a text, for models that cannot call: a line `# Run bash ls -la`.

Above: a model's brain, only for agents whose `tools` say text-tools. Below: rules/words/code_ranges.py.
Not here: whether a call is allowed (command.py), running it. This is one of the few places that read a text for what
it asks; it is pure, and it asks for nothing but the shell tool.

    # Run bash git status            the command on the line itself

    # Run bash                       or one command a line in the code block right after it
    ```
    git status
    ls -la
    ```

Only a line of its own counts, at the left margin: in a code block, a quote or a list it is somebody showing the form.
A block that is never closed asks for nothing: the answer was cut, and half a command may be the wrong one.
"""

import json
import re
from bisect import bisect_right
from itertools import accumulate
from typing import Final

from msgspec import Struct

from moot.model.prompt import ToolCall
from moot.rules.words.code_ranges import code_ranges

MAX_CALLS: Final = 8
"""What one answer asks for beyond these is dropped; the model can ask again."""
_FORM: Final = "# Run bash"
_OPENS: Final = re.compile(r"(?P<mark>`{3,}|~{3,})[ \t]*(?:bash|sh|shell|console|zsh)?[ \t]*")
_TICKED: Final = re.compile(r"`+([^`]+)`+")


class TextCalls(Struct, frozen=True):
    calls: tuple[ToolCall, ...]
    text: str
    """What is left to be said."""


def text_calls(text: str) -> TextCalls:
    """The calls of an answer, in order, and the answer without them."""
    if _FORM not in text:
        return TextCalls((), text)
    text = text.replace("\r\n", "\n")
    return _CallReader(text).calls_and_rest()


class _CallReader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.lines = text.split("\n")
        self.starts = list(accumulate((len(line) + 1 for line in self.lines), initial=0))
        self.code = code_ranges(text)
        self.code_starts = [start for start, _ in self.code]

    def calls_and_rest(self) -> TextCalls:
        commands: list[str] = []
        left: list[str] = []
        at = 0
        while at < len(self.lines):
            found, after = self.asked_at(at)
            if found:
                commands += found
                at = after
                if left and not left[-1].strip() and at < len(self.lines) and not self.lines[at].strip():
                    at += 1  # what stood around the call moves together
            else:
                left.append(self.lines[at])
                at += 1
        if not commands:
            return TextCalls((), self.text)
        calls = tuple(
            ToolCall(f"text-{number}", "shell", json.dumps({"command": command}, ensure_ascii=False))
            for number, command in enumerate(commands[:MAX_CALLS], 1)
        )
        return TextCalls(calls, "\n".join(left).strip("\n"))

    def asked_at(self, at: int) -> tuple[list[str], int]:
        """The commands that a line asks for, and the line after them; none where it is an ordinary line."""
        line = self.lines[at]
        rest = line.removeprefix(_FORM)
        if rest == line or rest[:1] not in ("", " ", "\t", ":") or self.range_at(self.starts[at]) is not None:
            return [], at + 1
        command = rest.lstrip(": \t").rstrip()
        if command:
            ticked = _TICKED.fullmatch(command)
            return [ticked[1].strip() if ticked else command], at + 1
        return self.block_after(at + 1)

    def block_after(self, at: int) -> tuple[list[str], int]:
        if at < len(self.lines) and not self.lines[at].strip():
            at += 1
        opens = _OPENS.fullmatch(self.lines[at]) if at < len(self.lines) else None
        block = self.range_at(self.starts[at]) if opens else None
        if opens is None or block is None or block[0] != self.starts[at]:
            return [], at
        *body, closing = self.text[block[0] : block[1]].removesuffix("\n").split("\n")[1:] or [""]
        if not closing.strip().startswith(opens["mark"]):
            return [], at
        lines = (line.strip() for line in "\n".join(body).replace("\\\n", " ").split("\n"))
        return [line for line in lines if line and not line.startswith("#")], at + len(body) + 2

    def range_at(self, offset: int) -> tuple[int, int] | None:
        """The code that a place is in."""
        number = bisect_right(self.code_starts, offset) - 1
        found = self.code[number] if number >= 0 else None
        return found if found is not None and offset < found[1] else None
