"""What goes over a WebSocket, in words: plain text and nothing else.

A frame is one whole message of somebody else: in a conversation of two its text, among more `name: text`. What the
hub says itself begins with `! `, and nobody else's words do: a text of a pair that begins with `!` gets one more in
front. Frames of the hub are no messages, and nobody counts them.

    hello there                     said by the other of the two
    arya: hello there               said by arya, among more
    !!wait                          the other of the two said "!wait"
    ! [arya joined]                 a notice
    ! tool: 3 files                 what a tool answered
    ! error[E305] room is archived  what you said was not stored, and why
    ! warning[E201] nobody is …     it was stored, and there is something to know
"""

from msgspec import Struct, json

from moot import shapes
from moot.doors.http.api.hint_requests import request
from moot.doors.http.wire.frames import framed
from moot.errors import MootError
from moot.model.answer import Warned
from moot.model.hint import worded
from moot.model.participant import Kind

MARK = "!"
PAIRS = frozenset({"direct", "link"})
"""Kinds of conversation in which there is no need to say who speaks."""


class _Spoken(Struct, rename={"sender": "from"}):
    """The part of a message that goes into a frame."""

    seq: int = 0
    sender: str = ""
    kind: str = ""
    text: str = ""


_SPOKEN = json.Decoder(_Spoken)


class MessageFrames(Struct):
    """A message, and its frames once somebody needed them: each is written down once, however many read it."""

    seq: int
    author: str
    kind: str
    text: str
    counts: bool = True
    """Whether it is somebody's message; the hub's own words and those of tools are not."""
    alone: bytes = b""
    """Its frame for the other one of two."""
    named: bytes = b""
    """Its frame for one among more."""

    def __post_init__(self) -> None:
        self.counts = self.kind not in (Kind.SYSTEM, Kind.TOOL)

    @classmethod
    def of(cls, message: shapes.Message) -> "MessageFrames":
        return cls(message.seq, message.sender, message.kind, message.text)

    @classmethod
    def of_line(cls, line: bytes) -> "MessageFrames | None":
        """As it was written down; None where it is gone by now."""
        found = _SPOKEN.decode(line)
        return cls(found.seq, found.sender, found.kind, found.text) if found.seq else None

    def frame(self, *, alone: bool) -> bytes:
        if alone:
            self.alone = self.alone or framed(self._spoken(alone=True))
            return self.alone
        self.named = self.named or framed(self._spoken(alone=False))
        return self.named

    def _spoken(self, *, alone: bool) -> str:
        if self.kind == Kind.SYSTEM:
            return f"{MARK} {self.text}"
        if self.kind == Kind.TOOL:
            return f"{MARK} {self.author}: {self.text}"
        if not alone:
            return f"{self.author}: {self.text}"
        return MARK + self.text if self.text.startswith(MARK) else self.text


def refusal(error: MootError) -> str:
    """Why something was not done, in one frame."""
    parts = [error.title, error.detail, *(f"try: {way}" for way in worded(error.fix, request)[:1])]
    if error.retry_after_ms is not None:
        parts.append(f"try again in {error.retry_after_ms / 1000:.1f} s")
    return f"{MARK} error[{error.code}] {'; '.join(part for part in parts if part)}"


def warning(warned: Warned) -> str:
    ways = (f"try: {way}" for way in worded(warned.fix, request)[:1])
    return f"{MARK} warning[{warned.code}] {'; '.join((warned.message, *ways))}"
