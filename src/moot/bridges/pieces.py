"""Text to pieces that a chat app takes: cut at good places, code blocks closed and opened again, no dangerous links.

Pure. Above: dispatch.py plans posts with it. Not here: a chat app's own markup, which its bridge makes when it sends.
"""

import re
import unicodedata
from collections.abc import Callable, Iterator
from typing import Final

from moot.rules.words.code_ranges import code_ranges

Size = Callable[[str], int]
"""The length of a text as a chat app counts it; the length of two texts together is the sum."""

SAFE_SCHEMES: Final = frozenset({"http", "https", "mailto", "tg"})
_link = re.compile(
    r"(!?\[)([^\[\]\n]{0,1000})\]\(\s*<?([^()\s<>]{0,2000})(?:\([^()\s]*\))*>?[^()\n]{0,300}\)"
).finditer
_definition = re.compile(r"(?m)^[ \t>]*\[[^\]\n]{1,200}\]:[ \t]*(\S+).*$").finditer
_autolink = re.compile(r"<([A-Za-z][A-Za-z0-9+.-]{1,30}:[^\s<>]{0,2000})>").finditer
_scheme = re.compile(r"\s*([A-Za-z][A-Za-z0-9+.\s-]*):").match
_fence = re.compile(r"^[ \t>]*(`{3,}|~{3,})(.*)$").match
_speaker = re.compile(r"(?m)^[ \t>]*●(?=[^\n]{0,80}:)").sub
_JOINERS = frozenset("\u200d\ufe0f\ufe0e\u20e3")
MAX_REPEATED: Final = 20
"""Letters of each part of a fence's opening line that are repeated in front of every piece."""
MAX_PIECES: Final = 40
"""Of one message; the rest can be read in the hub."""
MIN_PIECE_SHARE: Final = 0.5
"""A blank line is a better place to cut than a later one, if at least this share of a piece is used."""


def without_speakers(text: str) -> str:
    """Mark lines that imitate the way a bridge names a speaker."""
    return _speaker("○", text) if "●" in text else text


def utf16(text: str) -> int:
    """The length of a text as Telegram counts it."""
    return len(text) + sum(letter > "\uffff" for letter in text)


def without_unsafe_links(text: str) -> str:
    """Links that would run something when clicked become their words; code is left as it is."""
    if ":" not in text:
        return text
    cuts = [
        *((match.start(), match.end(), match[2]) for match in _link(text) if not _is_safe(match[3])),
        *((match.start(), match.end(), "") for match in _definition(text) if not _is_safe(match[1])),
        *((match.start(), match.end(), match[1]) for match in _autolink(text) if not _is_safe(match[1])),
    ]
    if not cuts:
        return text
    code = code_ranges(text)
    parts, at = [], 0
    for start, end, words in sorted(cuts):
        if start < at or any(begin <= start < stop for begin, stop in code):
            continue
        parts += [text[at:start], words]
        at = end
    return "".join((*parts, text[at:]))


def _is_safe(target: str) -> bool:
    """Browsers drop controls and spaces inside a scheme, so they are dropped here too."""
    match = _scheme("".join(letter for letter in target if letter > " "))
    return match is None or match[1].lower() in SAFE_SCHEMES


def split(text: str, max_size: int, size: Size = len) -> list[str]:
    """Pieces of at most `max_size`, none of them blank; together they say what the text says."""
    pieces, rest, opened = [], text.strip("\n"), ""
    while rest:
        head = f"{opened}\n" if opened else ""
        if len(rest) <= max_size and size(head + rest) <= max_size:
            pieces.append(head + rest)
            break
        piece, rest, opened = _cut(head, rest, max_size, size)
        pieces.append(piece)
        rest = rest.lstrip("\n") if not opened else rest
    return [piece for piece in pieces if piece.strip()]


def shorten(pieces: list[str], rest: str) -> list[str]:
    """At most MAX_PIECES pieces, the last of which says where the rest is."""
    return pieces if len(pieces) <= MAX_PIECES else [*pieces[: MAX_PIECES - 1], rest]


def _cut(head: str, rest: str, max_size: int, size: Size) -> tuple[str, str, str]:
    """A piece, what is left, and the fence that has to be opened again in front of it."""
    end_of_piece, good, opened = 0, 0, head.rstrip("\n")
    used, room = 0, max_size - size(head)
    for start, end in _lines(rest):
        after = _after(opened, rest[start:end])
        used += size(rest[start:end])
        if used + _closing(after) > room:
            break
        end_of_piece, opened = end, after
        if not opened and not rest[start:end].strip() and used >= room * MIN_PIECE_SHARE:
            good = end
    if good and not opened:
        end_of_piece, opened = good, ""
    if not end_of_piece:
        return _cut_line(head, rest, room, size)
    closing = f"\n{_mark(opened)}" if opened else ""
    return head + rest[:end_of_piece].rstrip("\n") + closing, rest[end_of_piece:], opened


def _cut_line(head: str, rest: str, room: int, size: Size) -> tuple[str, str, str]:
    """One line that is longer than a piece: at a space, or else between two letters."""
    opened = head.rstrip("\n")
    room -= _closing(opened)
    end = _fitting(rest, room, size)
    space = rest.rfind(" ", max(1, end // 2), end)
    end = space if space > 0 else end
    closing = f"\n{_mark(opened)}" if opened else ""
    return head + rest[:end] + closing, rest[end:].removeprefix(" "), opened


def _fitting(text: str, room: int, size: Size) -> int:
    end = min(len(text), max(1, room))
    while end > 1 and (size(text[:end]) > room or _joins(text, end)):
        end -= 1
    return end


def _joins(text: str, at: int) -> bool:
    """Whether cutting here would take a letter apart."""
    if at >= len(text):
        return False
    return text[at] in _JOINERS or text[at - 1] == "\u200d" or bool(unicodedata.combining(text[at]))


def _lines(text: str) -> Iterator[tuple[int, int]]:
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end + 1
        yield at, end
        at = end


def _after(opened: str, line: str) -> str:
    """The fence that is open after a line."""
    match = _fence(line.rstrip("\n"))
    if match is None:
        return opened
    if not opened:
        return "" if "`" in match[2] else _opening(line, match)
    mark = _mark(opened)
    closes = match[1][0] == mark[0] and len(match[1]) >= len(mark) and not match[2].strip()
    return "" if closes else opened


def _opening(line: str, match: re.Match[str]) -> str:
    """The line that opens a fence again, cut so that every piece has room for it."""
    before = line[: match.start(1)].strip()
    return f"{before[:MAX_REPEATED]}{match[1][:MAX_REPEATED]}{match[2].strip()[:MAX_REPEATED]}"


def _mark(opened: str) -> str:
    match = _fence(opened)
    return match[1] if match is not None else "```"


def _closing(opened: str) -> int:
    return len(_mark(opened)) + 1 if opened else 0
