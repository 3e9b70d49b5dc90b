"""What a terminal sends, as keys: letters, Enter, arrows, and a paste as one piece.

A terminal marks a paste (bracketed paste), so that its line ends are told from the Enter key. Where one does not,
several lines that come at once are taken for a paste too: nobody types that fast, and a line that was not meant to be
sent alone costs money.

Above: keyboard.py. Below: nothing. Not here: what a key does to the text (line_editor.py).
"""

import codecs
import re
from typing import Final, NamedTuple

PASTE_BEGINS: Final = "\x1b[200~"
PASTE_ENDS: Final = "\x1b[201~"
ESCAPE_SECONDS: Final = 0.1
"""If nothing follows an Esc for this long, it was the key and not a sequence."""
PASTE_SECONDS: Final = 2.0
"""If nothing follows inside a paste for this long, its end will not come."""
INTERRUPT: Final = b"\x03"
LINE_ENDS: Final = re.compile(r"\r\n|\r|\n")
# An escape sequence; an incomplete one; characters that are not control characters.
_sequence = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|O.|[^\[O])", re.DOTALL).match
_incomplete = re.compile(r"\x1b(?:\[[0-?]*[ -/]*|O)?$").match
_letters = re.compile(r"[^\x00-\x1f\x7f]+").match
_unprintable = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


class Key(NamedTuple):
    name: str
    text: str = ""
    """The text that the key writes."""


CONTROLS: Final = {
    "\x01": "home",
    "\x02": "left",
    "\x03": "interrupt",
    "\x04": "end of input",
    "\x05": "end",
    "\x06": "right",
    "\x08": "backspace",
    "\x0b": "cut after",
    "\x0c": "redraw",
    "\x0e": "later",
    "\x10": "earlier",
    "\x15": "cut before",
    "\x17": "cut word",
    "\x7f": "backspace",
}
SEQUENCES: Final = {
    "\x1b[A": "earlier",
    "\x1b[B": "later",
    "\x1b[C": "right",
    "\x1b[D": "left",
    "\x1b[F": "end",
    "\x1b[H": "home",
    "\x1bOA": "earlier",
    "\x1bOB": "later",
    "\x1bOC": "right",
    "\x1bOD": "left",
    "\x1bOF": "end",
    "\x1bOH": "home",
    "\x1b[1~": "home",
    "\x1b[3~": "delete",
    "\x1b[4~": "end",
    "\x1b[7~": "home",
    "\x1b[8~": "end",
    "\x1b\r": "newline",
    "\x1b\n": "newline",
    "\x1b\x7f": "cut word",
}
"""Other sequences do nothing; what they hold is not taken for letters."""


class Keystrokes:
    """Bytes in, keys out; what is not complete yet waits for its rest."""

    def __init__(self) -> None:
        self._decode = codecs.getincrementaldecoder("utf-8")("replace").decode
        self._waiting = ""
        self._is_pasting = False

    def of(self, data: bytes, *, more: bool = False) -> list[Key]:
        """`more`: further bytes are there already, right after these."""
        if self._is_pasting and data == INTERRUPT:  # the key, since it came alone
            return [*self._paste_so_far(), Key(CONTROLS["\x03"])]
        self._waiting += self._decode(data)
        at_once = not self._is_pasting and len(LINE_ENDS.findall(self._waiting)) > 1
        keys: list[Key] = []
        while self._waiting:
            key = self._in_paste() if self._is_pasting else self._next(at_once, more)
            if key is None:
                break
            if key.name:
                keys.append(key)
        return keys

    def after_silence(self, seconds: float) -> list[Key]:
        """Nothing came for this long: give up waiting for the rest of an incomplete sequence."""
        if self._is_pasting:
            return self._paste_so_far() if seconds >= PASTE_SECONDS else []
        self._waiting = ""
        return []

    def _paste_so_far(self) -> list[Key]:
        text, self._waiting, self._is_pasting = clean_paste(self._waiting), "", False
        return [Key("text", text)] if text else []

    def _in_paste(self) -> Key | None:
        whole, ends, rest = self._waiting.partition(PASTE_ENDS)
        if not ends:
            return None
        self._is_pasting, self._waiting = False, rest
        return Key("text", clean_paste(whole))

    def _next(self, at_once: bool, more: bool) -> Key | None:
        waiting = self._waiting
        if (match := LINE_ENDS.match(waiting)) is not None:
            self._waiting = waiting[match.end() :]
            is_inside = at_once and (bool(self._waiting) or more)
            return Key("newline") if is_inside else Key("enter")
        if waiting.startswith(PASTE_BEGINS):
            self._is_pasting, self._waiting = True, waiting[len(PASTE_BEGINS) :]
            return Key("")
        if waiting[0] == "\x1b":
            return self._escape(waiting)
        if (match := _letters(waiting)) is not None:
            self._waiting = waiting[match.end() :]
            return Key("text", match[0])
        self._waiting = waiting[1:]
        return Key("text", "\t") if waiting[0] == "\t" else Key(CONTROLS.get(waiting[0], ""))

    def _escape(self, waiting: str) -> Key | None:
        if _incomplete(waiting) is not None or (match := _sequence(waiting)) is None:
            return None
        self._waiting = waiting[match.end() :]
        return Key(SEQUENCES.get(match[0], ""))


def clean_paste(text: str) -> str:
    """A pasted text with one kind of line end and without control characters."""
    return _unprintable.sub("", LINE_ENDS.sub("\n", text)).rstrip("\n")
