"""Who a text names with `@`: the one parser every door, the floor and the previews use (SPEC A-05).

Above: flow/post parses each message once, on the hot path; doors parse drafts for previews.
Below: rules/code_ranges, only for texts with a backtick or a tilde fence.
Not here: who the names belong to, whether they may be woken, `@all` (rules/floor decides what it means).

A mention is `@` and a name, where neither belongs to something longer: not in code (rules/code_ranges), URLs,
e-mail and fediverse addresses, paths, package scopes (`@types/node`), or behind a backslash (`\\@arya`).
"""

import re
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from heapq import nlargest
from itertools import islice
from typing import TypeVar
from unicodedata import category

from moot.rules.words.code_ranges import code_ranges

T = TypeVar("T")

MAX_NAME_CHARACTERS = 63  # letters in a name; a longer run is no name, and is not cut into one
_TRAILING = frozenset("-_.")
_MAX_SIGNS = 20_000  # "@" looked at in one text: a bound for hostile ones
_NEAREST_OF = 1000  # known names looked at for "did you mean"; more would cost more than the hint is worth
_NEAREST_COMPARED = 50  # those of them that share most letters, compared in full at 15 µs each

# Tried at one place, right behind an "@"; searching the whole text with a pattern costs five times as much.
_name_at = re.compile(r"[A-Za-z][A-Za-z0-9_.-]*").match
_NAME_LETTERS = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.-")
# Before the "@": the middle of an address, a path or a word; a backslash is Markdown's "as is".
_GLUED_BEFORE = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.+@-\\")
# Behind the name: what surely ends it, and nearly always does.
_ENDS = frozenset(("", *" \n,:;!?()'\""))


def parse(text: str) -> tuple[str, ...]:
    """The names written after `@`, lower-cased, each once, in order of first appearance."""
    at = text.find("@")
    if at < 0:
        return ()
    if "`" in text or ("~" in text and "~~~" in text):  # one letter is found 16 times faster than three
        text = _prose(text)
        at = text.find("@")
    urls: _Urls | None = None
    found: dict[str, None] = {}
    for _ in range(_MAX_SIGNS):
        if at < 0:
            break
        end = at + 1
        plain = at == 0 or text[at - 1].isspace()
        if plain or text[at - 1] not in _GLUED_BEFORE or _opens_emphasis(text, at):
            run = _name_at(text, end)
            if run is not None:
                end = run.end()
                name = run[0].rstrip(".").lower()
                if plain and text[end : end + 1] in _ENDS and len(name) <= MAX_NAME_CHARACTERS:
                    found[name] = None
                elif name not in found and _stands_alone(text, at, name):
                    urls = urls or _Urls(text)
                    if plain or not urls.reach(at):
                        found[name] = None
        at = text.find("@", end)
    return tuple(found)


def readings(token: str) -> tuple[str, ...]:
    """The names a parsed token can stand for: itself, then without the punctuation it ends in.

    "@arya-" and "@arya." are arya with punctuation behind; "@gemini-cli" is never gemini.
    """
    name = token.lower()
    if name[-1:] not in _TRAILING:
        return (name,)
    found = [name]
    while name and name[-1] in _TRAILING:
        name = name[:-1]
        found.append(name)
    return tuple(reading for reading in found if reading)


def resolve(token: str, find: Callable[[str], T | None]) -> T | None:
    """What `find` has for the longest reading of a parsed name that it knows."""
    found = find(token)
    if found is not None:
        return found
    for name in readings(token):
        found = find(name)
        if found is not None:
            return found
    return None


def nearest(name: str, names: Iterable[str], limit: int = 3) -> tuple[str, ...]:
    """Known names that look like this one, the closest first, for "did you mean"."""
    if limit < 1:
        return ()
    wanted = name[:MAX_NAME_CHARACTERS].lower()
    letters = set(wanted)

    def shared(other: str) -> int:
        return len(letters.intersection(other)) - abs(len(other) - len(wanted))

    alike = nlargest(_NEAREST_COMPARED, islice(names, _NEAREST_OF), key=shared)
    return tuple(get_close_matches(wanted, alike, n=limit))


def _prose(text: str) -> str:
    """The text with every `@` inside code painted over."""
    parts: list[str] = []
    read_to = 0
    for start, end in code_ranges(text):
        parts += (text[read_to:start], text[start:end].replace("@", "`"))
        read_to = end
    parts.append(text[read_to:])
    return "".join(parts)


def _opens_emphasis(text: str, at: int) -> bool:
    """`_@arya_` and `__@arya__` are a mention in italics or bold; `snake_@x` is not."""
    if text[at - 1] != "_":
        return False
    outside = at - 3 if text[at - 2 : at] == "__" else at - 2
    return outside < 0 or (text[outside] not in _GLUED_BEFORE and not _joins(text[outside]))


def _stands_alone(text: str, at: int, name: str) -> bool:
    """Whether `@name` is no part of something longer: a word, `@name@host`, the package `@name/x`."""
    end = at + 1 + len(name)
    after = text[end : end + 1]
    if after == "@" or len(name) > MAX_NAME_CHARACTERS:
        return False
    if after == "/" and text[end + 1 : end + 2] in _NAME_LETTERS:
        return False
    before = text[at - 1 : at]
    return not ((not after.isascii() and _joins(after)) or (not before.isascii() and _joins(before)))


def _joins(letter: str) -> bool:
    """Whether a letter outside ASCII belongs to the word beside it; an ASCII one is never asked about.

    Letters of scripts with case, digits and combining marks do: `@caféteria` does not name caf.
    Scripts that write without spaces do not: `@aryaさん` is arya.
    """
    return letter.lower() != letter.upper() or letter.isdigit() or category(letter)[0] == "M"


class _Urls:
    """Walks along the text and says whether a place lies inside a URL: behind `://` or `www.` in its word.

    Each stretch between two questions is read once, so a word of a thousand mentions stays linear.
    """

    def __init__(self, text: str) -> None:
        self._text = text
        self._read_to = 0
        self._inside = False

    def reach(self, at: int) -> bool:
        stretch = self._text[self._read_to : at]
        self._read_to = at
        if not stretch:
            return self._inside
        if stretch[-1].isspace():
            self._inside = False
            return False
        words = stretch.rsplit(None, 1)
        if len(words) > 1 or stretch[0].isspace():
            self._inside = False
        self._inside = self._inside or "://" in words[-1] or "www." in words[-1].lower()
        return self._inside
