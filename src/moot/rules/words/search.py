"""A search as people type it: words, "exact phrases", and operators such as `from:arya after:2d`.

Above: hub/queries/search.py finds out who and what the names stand for. Below: nothing.
Not here: looking anything up.

A word with a colon is an operator only if it is one of ours. What other products call theirs is refused with ours
named; every other colon, in a URL, a time of day or an address, stays part of its word. In quotes all is text.
"""

import re
from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Final, TypeVar

from msgspec import Struct

from moot.errors import BadValue
from moot.model.conversation import ConversationKind
from moot.model.ids import ConversationId, ParticipantId
from moot.model.participant import Kind
from moot.model.query import Has, Mark, Query

MAX_PARTS = 64
"""Words, phrases and filters of one search."""
SPANS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400, "w": 7 * 86400}


class Operator(StrEnum):
    FROM = "from"
    TO = "to"
    IN = "in"
    KIND = "kind"
    BEFORE = "before"
    AFTER = "after"
    HAS = "has"
    IS = "is"


OPERATORS: Final = {operator.value: operator for operator in Operator}
NAMING: Final = frozenset({Operator.FROM, Operator.TO, Operator.IN})
"""Their values are names that somebody has to look up."""
ELSEWHERE: Final[Mapping[str, Operator]] = {
    "author": Operator.FROM,
    "by": Operator.FROM,
    "sender": Operator.FROM,
    "mentions": Operator.TO,
    "with": Operator.TO,
    "channel": Operator.IN,
    "conv": Operator.IN,
    "conversation": Operator.IN,
    "room": Operator.IN,
    "type": Operator.KIND,
    "since": Operator.AFTER,
    "until": Operator.BEFORE,
    "contains": Operator.HAS,
}
"""What other products call theirs."""

# A run without white space, in which quotes hold white space together; the last quote may be missing.
_PIECE: Final = re.compile(r'(?:[^\s"]+|"[^"]*(?:"|$))+')
_OPERATOR: Final = re.compile(r"([A-Za-z]+):(.*)", re.DOTALL)
_MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d.*)?", re.DOTALL | re.ASCII)
_SPAN: Final = re.compile(r"(\d{1,6})([smhdw])", re.ASCII)
V = TypeVar("V", bound=StrEnum)


class Filter(Struct, frozen=True):
    """One operator with its value, as it was typed."""

    operator: Operator
    value: str
    at: float = 0.0
    """Of before: and after:, the moment meant."""

    def __str__(self) -> str:
        return f'{self.operator}:"{self.value}"' if " " in self.value else f"{self.operator}:{self.value}"


class ParsedSearch(Struct, frozen=True):
    terms: tuple[str, ...] = ()
    filters: tuple[Filter, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.terms or self.filters)

    def without(self, operator: Operator) -> "ParsedSearch":
        return ParsedSearch(self.terms, tuple(f for f in self.filters if f.operator is not operator))


def parse(text: str, now: float) -> ParsedSearch:
    """The parts of a search; `BadValue` where an operator cannot mean anything."""
    clean = text.encode("utf-8", "replace").decode().replace("\0", " ")
    terms: list[str] = []
    filters: list[Filter] = []
    for piece in _PIECE.findall(clean):
        found = _filter(piece, now)
        if found is not None:
            filters.append(found)
        else:
            terms += [part.strip() for part in piece.split('"') if part.strip()]
        if len(terms) + len(filters) > MAX_PARTS:
            raise BadValue(
                f"a search can have at most {MAX_PARTS} words and filters",
                fix=('quote words that belong together: "exact phrase"',),
            )
    return ParsedSearch(tuple(terms), tuple(filters))


def _filter(piece: str, now: float) -> Filter | None:
    met = _OPERATOR.match(piece)
    if met is None:
        return None
    word, value = met[1].lower(), met[2].replace('"', "").strip()
    if word in ELSEWHERE and value:
        meant = ELSEWHERE[word]
        raise _no_operator(f'unknown search operator "{word}:"', f"{meant}:{value}", piece)
    operator = OPERATORS.get(word)
    if operator is None:
        return None
    if not value:
        example = f"{operator}:{EXAMPLES[operator]}"
        raise _no_operator(f'"{word}:" needs a value right after the colon', example, piece)
    return Filter(operator, value, _checked(operator, value, now))


def _checked(operator: Operator, value: str, now: float) -> float:
    """The moment of before: and after:; for the others whether their value is one of theirs."""
    match operator:
        case Operator.BEFORE | Operator.AFTER:
            return moment(operator, value, now)
        case Operator.KIND | Operator.HAS | Operator.IS:
            values = VALUES[operator]
            if value.lower() not in values:
                raise BadValue(
                    f'unknown value in "{operator}:{value}"', detail=f"{operator}: takes {', '.join(values)}"
                )
        case _:
            pass
    return 0.0


def moment(operator: str, value: str, now: float) -> float:
    """A date or time as RFC 3339 writes it, UTC unless it says otherwise; or how long ago, such as 2d."""
    if span := _SPAN.fullmatch(value):
        return max(now - int(span[1]) * SPANS[span[2]], 0.0)
    try:
        if not _MOMENT.fullmatch(value):
            raise ValueError
        found = datetime.fromisoformat(value)
        return (found if found.tzinfo else found.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        raise BadValue(
            f'"{operator}:{value}" is not a time',
            detail="expected a date (2026-11-01), a time (2026-11-01T12:30Z) or an age (10m, 2h, 3d, 1w)",
        ) from None


def _no_operator(title: str, meant: str, piece: str) -> BadValue:
    text = piece.replace('"', "")
    return BadValue(
        title,
        detail=f"operators are {' '.join(f'{word}:' for word in OPERATORS)}",
        fix=(meant, f'to search for the text itself: "{text}"'),
    )


EXAMPLES: Final[Mapping[Operator, str]] = {
    Operator.FROM: "arya",
    Operator.TO: "arya",
    Operator.IN: "build",
    Operator.KIND: "agent",
    Operator.BEFORE: "2026-11-01",
    Operator.AFTER: "2d",
    Operator.HAS: "link",
    Operator.IS: "edited",
}
VALUES: Final[Mapping[Operator, Collection[str]]] = {
    Operator.KIND: [*(kind.value for kind in Kind), *(kind.value for kind in ConversationKind)],
    Operator.HAS: [has.value for has in Has],
    Operator.IS: [mark.value for mark in Mark],
}


def query(
    wanted: ParsedSearch, meant: Mapping[Filter, tuple[str, ...]], reader: ParticipantId | None
) -> Query:
    """What a store is asked. `meant` says which ids the names of from:, to: and in: stand for."""

    def ids(operator: Operator) -> list[str]:
        return [found for f in wanted.filters if f.operator is operator for found in meant[f]]

    def of(operator: Operator, kind: type[V]) -> tuple[V, ...]:
        values = [f.value.lower() for f in wanted.filters if f.operator is operator]
        members = {member.value: member for member in kind}
        return tuple(members[value] for value in values if value in members)

    def moments(operator: Operator) -> list[float]:
        return [f.at for f in wanted.filters if f.operator is operator]

    return Query(
        terms=wanted.terms,
        authors=tuple(map(ParticipantId, ids(Operator.FROM))),
        addressed=tuple(map(ParticipantId, ids(Operator.TO))),
        places=tuple(map(ConversationId, ids(Operator.IN))),
        kinds=of(Operator.KIND, Kind),
        rooms=of(Operator.KIND, ConversationKind),
        has=of(Operator.HAS, Has),
        marks=of(Operator.IS, Mark),
        after=max(moments(Operator.AFTER), default=None),
        before=min(moments(Operator.BEFORE), default=None),
        reader=reader,
    )
