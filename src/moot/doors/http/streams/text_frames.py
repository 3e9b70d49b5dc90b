"""The text frames of a WebSocket.

A frame is one whole message of somebody else: in a conversation of two its text, in a larger one `name: text`. Only
frames from the hub itself begin with `! `: a text in a conversation of two that begins with `!` gets one more in front.
Frames from the hub are not messages and are not counted.

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
from moot.doors.http.wire.frames import encode_frame
from moot.errors import MootError
from moot.model.answer import Warned
from moot.model.hint import worded
from moot.model.participant import Kind

MARK = "!"
PAIRS = frozenset({"direct", "link"})
"""Kinds of conversation in which the sender need not be named."""


class _MessageLine(Struct, rename={"sender": "from"}):
    """The part of a message that goes into a frame."""

    seq: int = 0
    sender: str = ""
    kind: str = ""
    text: str = ""


_MESSAGE_LINE = json.Decoder(_MessageLine)


class MessageFrames(Struct):
    """A message, and its frames once they were needed: each is encoded once for all readers."""

    seq: int
    author: str
    kind: str
    text: str
    counts: bool = True
    """Whether a participant wrote it, and not the hub or a tool."""
    alone: bytes = b""
    """Its frame in a conversation of two."""
    named: bytes = b""
    """Its frame in a larger conversation."""

    def __post_init__(self) -> None:
        self.counts = self.kind not in (Kind.SYSTEM, Kind.TOOL)

    @classmethod
    def of(cls, message: shapes.Message) -> "MessageFrames":
        return cls(message.seq, message.sender, message.kind, message.text)

    @classmethod
    def of_line(cls, line: bytes) -> "MessageFrames | None":
        """From a message as it was encoded; None if it is gone by now."""
        message = _MESSAGE_LINE.decode(line)
        return cls(message.seq, message.sender, message.kind, message.text) if message.seq else None

    def frame(self, *, alone: bool) -> bytes:
        if alone:
            self.alone = self.alone or encode_frame(self._text_for(alone=True))
            return self.alone
        self.named = self.named or encode_frame(self._text_for(alone=False))
        return self.named

    def _text_for(self, *, alone: bool) -> str:
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
