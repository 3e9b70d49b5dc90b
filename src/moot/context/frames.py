"""How a model is shown what others said: a verified header outside, the words inside a block it cannot leave.

    [From agent "arya"]: #12 <3f9c1d22ab>
    whatever arya wrote, also lines that look like a header
    </3f9c1d22ab>

The boundary is derived from the instance's secret and the message's address: the same in every render, so that
a prompt's prefix stays the same bytes, and unknown to whoever writes the message. Inside a block the boundary,
control characters and characters that reorder or hide text are escaped, so nothing in a text can end its block
or change how it reads. Authority never comes from here: `parse` exists to prove that frames lose nothing.

Above: prompt.py. Below: nothing. Not here: which messages are shown.
"""

import re
from functools import lru_cache
from hashlib import blake2b

from msgspec import Struct

from moot.model.ids import ConversationId
from moot.model.message import Summary
from moot.rules.words.text import CONTROLS, LINE_ENDS, REORDERING, UNSEEN

BOUNDARY_BYTES = 5

IMPORTED = " (imported)"
"""Behind the number of what was taken in from a file: that its author said it is that file's word."""
_HEADER = re.compile(r'\[From ([a-z]+)(?: "([^"\n]*)")?\]: #(\d+)( \(imported\))? <([0-9a-f]{10})>\n')
_ESCAPED = re.compile(r"⟨U\+([0-9A-F]{4,6})⟩")
_ONE_OF_OURS = "|⟨(?=U\\+)"  # would read like an escape
_TO_ESCAPE = re.compile(f"[{CONTROLS}{REORDERING}{UNSEEN}{LINE_ENDS}]{_ONE_OF_OURS}")
_TO_ESCAPE_IN_LINE = re.compile(f"[\t\n{CONTROLS}{REORDERING}{UNSEEN}{LINE_ENDS}]{_ONE_OF_OURS}")


class Framed(Struct, frozen=True, gc=False):
    """One message as it is shown. `name` is empty for the system."""

    kind: str
    name: str
    seq: int
    text: str
    imported: bool = False


class Frames:
    """The frames of one conversation."""

    def __init__(self, secret: str, conversation: ConversationId) -> None:
        self._secret = secret
        self._conversation = conversation

    def boundary(self, seq: int) -> str:
        return _boundary(self._secret, self._conversation, seq)

    def show(self, message: Framed) -> str:
        speaker = f'{message.kind} "{quoted(message.name)}"' if message.name else message.kind
        whence = IMPORTED if message.imported else ""
        return self.block(f"[From {speaker}]: #{message.seq}{whence}", message.seq, message.text)

    def summary(self, summary: Summary, *, imported: bool) -> str:
        whence = IMPORTED if imported else ""
        return self.block(f"[Summary of #1 to #{summary.upto}]:{whence}", -summary.epoch, summary.text)

    def block(self, header: str, number: int, text: str) -> str:
        """Words that are not the hub's, under a header that is."""
        boundary = self.boundary(number)
        return f"{header} <{boundary}>\n{escaped(text, boundary)}\n</{boundary}>"

    def parse(self, text: str) -> list[Framed]:
        """The messages whose frames a text consists of; what only looks like a frame is none."""
        found: list[Framed] = []
        at = 0
        while (header := _HEADER.search(text, at)) is not None:
            kind, name, seq, boundary = header[1], header[2] or "", int(header[3]), header[5]
            start, end = header.end(), text.find(f"\n</{boundary}>", header.end() - 1)
            begins_a_line = header.start() == 0 or text[header.start() - 1] == "\n"
            if end < 0 or not begins_a_line or boundary != self.boundary(seq):
                at = header.end()
                continue
            words = restored(text[start:end], boundary)
            found.append(Framed(kind, unescaped(name), seq, words, header[4] is not None))
            at = end + len(boundary) + 4
        return found


@lru_cache(maxsize=4096)
def _boundary(secret: str, conversation: str, seq: int) -> str:
    key = secret.encode()[:64]
    return blake2b(f"{conversation}:{seq}".encode(), digest_size=BOUNDARY_BYTES, key=key).hexdigest()


def escaped(text: str, boundary: str) -> str:
    """The text as it stands inside a block: reversible, and without anything that could end the block."""
    if boundary[:5] in text:
        text = re.sub(rf"({boundary[:5]})(\\*)({boundary[5:]})", r"\g<1>\\\g<2>\g<3>", text)
    return text if text.isascii() and text.isprintable() else _TO_ESCAPE.sub(_escape, text)


def line(text: str) -> str:
    """The text as it stands in one line, which it cannot end."""
    return _TO_ESCAPE_IN_LINE.sub(_escape, text)


def quoted(text: str) -> str:
    """The same between quotes, which it cannot end either."""
    return line(text).replace('"', "⟨U+0022⟩")


def unescaped(text: str) -> str:
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "⟨U+" in text else text


def _escape(found: re.Match[str]) -> str:
    return f"⟨U+{ord(found[0]):04X}⟩"


def restored(body: str, boundary: str) -> str:
    text = unescaped(body)
    if boundary[:5] not in text:
        return text
    return re.sub(rf"({boundary[:5]})\\(\\*)({boundary[5:]})", r"\g<1>\g<2>\g<3>", text)
