"""What agents, people, conversations and notes may be called, and how a name becomes an id.

Above: flow/ and config check every new name here; stores use the ids. Below: nothing.
Not here: who holds a name now (the caller passes it in), aliases, display in colour (rules/palette).

An agent's name is what people type after `@`; its id is the slug of its first name and never changes. Only
ids reach paths, topics and sockets. Display names are free text for the eye and address nobody.
"""

import re
from collections.abc import Iterable, Iterator
from itertools import count, islice
from typing import Final, Literal
from unicodedata import category, normalize

from moot.model.records.link import CHANNEL

RESERVED: Final = frozenset(
    {"human", "system", "tool", "all", "everyone", "here", "moot", "owner", "hub", "admin", "agent", "none"}
)
NAME_EXPECTED: Final = (
    "a lower-case letter, then up to 62 of a-z 0-9 _ . -, not ending in a dot, such as 'arya'"
)
DISPLAY_LENGTH: Final = 128
CONVERSATION_LENGTH: Final = 100
NOTE_LENGTH: Final = 64
NOTE_EXPECTED: Final = (
    f"a letter or digit, then up to {NOTE_LENGTH - 1} letters, digits, '-', '_' or '.', not ending in a dot, "
    "such as 'deploy-status'"
)

_NAME = re.compile(r"[a-z](?:[a-z0-9_.-]{0,61}[a-z0-9_-])?")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.+-]{0,127}")
_CONVERSATION_ID = re.compile(r"c[0-9][0-9a-hjkmnp-tv-z]{13}")  # as stores/ids.py makes them
_NOT_SLUG = re.compile(r"[^a-z0-9]+")
_NOT_NAME = re.compile(r"[^a-z0-9_.-]+")
_MAX_SHOWN_CHARACTERS = 40  # letters of a refused name repeated in the message; it may be a megabyte long

# The ASCII rows of Unicode's confusables.txt (17.0) that can touch a name: 0 → O, 1 → l, m → rn. The others
# (I " ` | %) are no letters of names. Names are compared without case, so O is o here. Letters outside ASCII
# never get as far as this table: the shape refuses them.
_LOOKS_LIKE = str.maketrans({"0": "o", "1": "l", "m": "rn"})

# Letters of display names that are drawn like one of a name: Cyrillic, Greek and a few Latin ones, in lower case. What
# Unicode itself takes apart (full width, mathematical, accented letters) needs no row.
_DRAWN_LIKE = str.maketrans(
    "аеорсхуіїјѕһԁԛԝкмтвнгьгαορνυικτχηωϲεβγıɑɡɩʟᴏ\u04cf\u01c0|",
    "aeopcxyiijshdqwkmtbhrbraopvuiktxnwcebyiagilolll",
)

# Drawn as nothing, although Unicode calls them letters, symbols or marks.
_BLANK_LETTERS = frozenset("\u034f\u115f\u1160\u17b4\u17b5\u2800\u3164\uffa0")
# Controls, formats (bidi, zero-width), surrogates, line and paragraph separators.
_UNSHOWN = frozenset({"Cc", "Cf", "Cs", "Zl", "Zp"})

Problem = Literal["shape", "reserved", "taken", "confusable"]


class NameProblem(ValueError):
    """A name that cannot be given, with what was expected, what it clashes with, and names that would do."""

    def __init__(
        self,
        name: str,
        problem: Problem,
        expected: str,
        clashes_with: str | None = None,
        suggestions: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.problem = problem
        self.expected = expected
        self.clashes_with = clashes_with
        self.suggestions = suggestions
        shown = name if len(name) <= _MAX_SHOWN_CHARACTERS else name[:_MAX_SHOWN_CHARACTERS] + "…"
        super().__init__(f"{shown!a} cannot be used as a name ({problem}); expected {expected}")

    @property
    def reason(self) -> str:
        """The problem in words, for whoever chose the name."""
        match self.problem:
            case "shape":
                return "it is not a valid name"
            case "reserved":
                return "it is reserved"
            case "taken":
                return "it is taken"
            case "confusable":
                return f"it looks like {self.clashes_with!r}"


def is_id(text: str) -> bool:
    """Whether this may be an id: one segment of a path, and nothing else, wherever it is put."""
    return _ID.fullmatch(text) is not None and ".." not in text


def is_conversation_id(text: str) -> bool:
    """The same of a conversation; the channel of a link has `link:` before the link's id."""
    return is_id(text.removeprefix(CHANNEL))


def is_name(name: str) -> bool:
    """Whether this has the shape of a name; says nothing about who holds it."""
    return _NAME.fullmatch(name) is not None


def skeleton(name: str) -> str:
    """What a name looks like: two names with one skeleton cannot be told apart on a screen."""
    return name.lower().translate(_LOOKS_LIKE)


def check_name(name: str, *, taken: Iterable[str], human: str) -> None:
    """Raise a NameProblem unless an agent may get this name.

    `taken` holds the names and aliases in use; who renames an agent leaves that agent's own out.
    """
    in_use = frozenset(taken)
    reserved = RESERVED | {human.lower()}
    if not is_name(name):
        raise NameProblem(name, "shape", NAME_EXPECTED, None, _free_like(name, in_use, reserved))
    if name in reserved:
        expected = "a name other than the reserved ones: " + ", ".join(sorted(reserved))
        raise NameProblem(name, "reserved", expected, name, _free_like(name, in_use, reserved))
    if name in in_use:
        expected = f"a name that is free; {name!r} is a participant's name or former name"
        raise NameProblem(name, "taken", expected, name, _free_like(name, in_use, reserved))
    looks = skeleton(name)
    for other in sorted(reserved | in_use):
        if skeleton(other) == looks:
            expected = f"a name that cannot be mistaken for {other!r}"
            raise NameProblem(name, "confusable", expected, other, _free_like(name, in_use, reserved))


def slug(name: str) -> str:
    """The name as an id: `[a-z0-9-]`, never empty, no dash at either end or twice in a row."""
    return _NOT_SLUG.sub("-", _plain(name)).strip("-")[:63].rstrip("-") or "agent"


def unique_slug(name: str, taken: Iterable[str]) -> str:
    """The slug, numbered from 2 on when somebody has it."""
    in_use = frozenset(taken)
    base = slug(name)
    return next(made for made in _numbered(base) if made not in in_use)


def free_name(wish: str, taken: Iterable[str], human: str) -> str:
    """A name that an agent may get, as close to the wish as can be."""
    in_use, reserved = frozenset(taken), RESERVED | {human.lower()}
    return next(iter((*_free_like(wish, in_use, reserved), *_free_like("guest", in_use, reserved))))


def check_display(text: str, *, taken: Iterable[str] | None = None) -> str:
    """The display name as it is stored (trimmed, NFC), or a NameProblem.

    `taken` holds the names and aliases of others: nobody is shown under what looks like one of them, or like a
    reserved one. None looks at the text alone.
    """
    kept = _visible(text, DISPLAY_LENGTH, "a display name")
    looks = drawn_as(kept)
    for other in sorted({*RESERVED, *taken}) if taken is not None else ():
        if looks & drawn_as(other):
            expected = f"a display name that cannot be mistaken for {other!r}"
            raise NameProblem(text, "confusable", expected, other)
    return kept


def drawn_as(text: str) -> frozenset[str]:
    """The skeletons of a display name: of its letters and digits alone, with I read as i and as l."""
    plain = "".join(letter for letter in normalize("NFKD", text) if category(letter) != "Mn")
    readings = (plain, plain.replace("I", "l"))
    letters = ("".join(filter(_is_drawn, reading.lower().translate(_DRAWN_LIKE))) for reading in readings)
    return frozenset(skeleton(each) for each in letters if each)


def _is_drawn(letter: str) -> bool:
    return letter.isalnum()


def check_conversation_name(name: str) -> str:
    """The conversation's name as it is stored (trimmed, NFC), or a NameProblem.

    It must work as one word of a command and one segment of a URL: `-` in front would read as an option, `@`
    as a participant, `#` as a shell comment (screens write it before the name); `:` belongs to addresses
    (`link:ID`, `conversation:seq`) and `/` to paths; `.` and `..` vanish from URLs. Nor may it be spelled like an id:
    that such a name is taken would tell whose id it is from one that is nobody's.
    """
    kept = _visible(name, CONVERSATION_LENGTH, "a conversation name")
    if _CONVERSATION_ID.fullmatch(kept):
        raise NameProblem(name, "shape", "a conversation name that is not spelled like an id")
    if kept[0] not in "-@#" and ":" not in kept and "/" not in kept and kept not in (".", ".."):
        return kept
    better = re.sub(r"\s*[:/]+\s*", "-", kept).strip("-@#. ")
    expected = "a conversation name without ':' or '/', not beginning with '-', '@' or '#', not '.' or '..'"
    raise NameProblem(name, "shape", expected, None, (better,) if better else ())


def check_note_name(name: str) -> str:
    """The note's name as it is stored (trimmed, NFC, lower case), or a NameProblem.

    It is one word wherever it is typed, `/note NAME += …` among them, one segment of a URL and of a path, and no
    address: so nothing but letters and digits of any script, `-`, `_` and `.`.
    """
    what = "a note name"
    shown = _visible(_visible(name, NOTE_LENGTH, what).lower(), NOTE_LENGTH, what)
    fits = all(letter in "-_." or category(letter)[0] in "LMN" for letter in shown)
    if fits and category(shown[0])[0] in "LN" and not shown.endswith("."):
        return shown
    letters = (letter if category(letter)[0] in "LN" else "-" for letter in shown)
    better = re.sub("-{2,}", "-", "".join(letters)).strip("-")
    raise NameProblem(name, "shape", NOTE_EXPECTED, None, (better,) if better else ())


def _visible(text: str, longest: int, what: str) -> str:
    if len(text) > 4 * longest:  # far too long even if trimming and composing shorten it: do not read it all
        raise NameProblem(text, "shape", f"{what} of 1 to {longest} characters, got {len(text)}")
    kept = normalize("NFC", text.strip())
    if not 1 <= len(kept) <= longest:
        raise NameProblem(text, "shape", f"{what} of 1 to {longest} characters, got {len(kept)}")
    for letter in kept:
        if letter in _BLANK_LETTERS or category(letter) in _UNSHOWN:
            expected = f"{what} without control, bidi or zero-width characters, got U+{ord(letter):04X}"
            raise NameProblem(text, "shape", expected)
    return kept


def _plain(name: str) -> str:
    """Lower case, accents taken off what can be written without them."""
    if name.isascii():
        return name.lower()
    apart = normalize("NFKD", name[: 4 * DISPLAY_LENGTH])
    return "".join(letter for letter in apart if category(letter) != "Mn").lower()


def _numbered(base: str) -> Iterator[str]:
    yield base
    for number in count(2):
        tail = f"-{number}"
        yield base[: 63 - len(tail)].rstrip("-.") + tail


def _free_like(name: str, in_use: frozenset[str], reserved: frozenset[str]) -> tuple[str, ...]:
    """Up to three free names close to the wish; numbered ones when the wish itself has an owner."""
    wish = _NOT_NAME.sub("-", _plain(name[: 4 * DISPLAY_LENGTH])).strip("-_.0123456789")[:63].rstrip("-.")
    if not wish:
        return ()
    looks_used = {skeleton(other) for other in in_use | reserved}
    candidates = islice(_numbered(wish), len(looks_used) + 4)
    free = (made for made in candidates if is_name(made) and skeleton(made) not in looks_used)
    return tuple(islice(free, 3))
