"""A query as FTS5 takes it. Every word is quoted, so that none of them is an operator, whatever a person types.

Two columns: `content` holds what was said, `traits` the made-up words of schema/0006_search.sql.
"""

from collections.abc import Iterable, Mapping, Sequence

from moot.model.ids import ConversationId, ParticipantId
from moot.model.participant import Kind
from moot.model.query import Mark, Query


def expression(
    query: Query,
    *,
    visible: Sequence[ConversationId],
    pairs: Mapping[ParticipantId, Sequence[ConversationId]],
) -> str:
    """`visible` narrows it where it names any; `pairs` are the conversations in which somebody is the other one."""
    parts = [
        _any(_hexed("f", query.authors)),
        _addressed(query.addressed, pairs),
        _any(_hexed("c", query.places)),
        _any(_hexed("c", visible)),
        _any(f"k{kind}" for kind in query.kinds),
        _any(f"g{room}" for room in query.rooms),
        *(_any([f"h{has}"]) for has in query.has),
        *(_any([f"m{mark}"]) for mark in query.marks),
        f"content : ({' '.join(map(quoted, query.terms))})" if query.terms else "",
    ]
    all_of = " AND ".join(filter(None, parts)) or _any(f"k{kind}" for kind in Kind)
    return all_of if Mark.DELETED in query.marks else f"({all_of}) NOT {_any([f'm{Mark.DELETED}'])}"


def quoted(word: str) -> str:
    return '"' + word.encode("utf-8", "replace").decode().replace("\0", " ").replace('"', '""') + '"'


def _hexed(letter: str, ids: Iterable[str]) -> list[str]:
    return [letter + one.encode("utf-8", "replace").hex() for one in ids]


def _any(traits: Iterable[str]) -> str:
    either = " OR ".join(map(quoted, traits))
    return f"traits : ({either})" if either else ""


def _addressed(whom: Sequence[ParticipantId], pairs: Mapping[ParticipantId, Sequence[ConversationId]]) -> str:
    """Mentioned, or the other one of a pair."""
    ways = []
    for one in whom:
        ways.append(_any(_hexed("t", [one])))
        if pairs.get(one):
            ways.append(f"({_any(_hexed('c', pairs[one]))} NOT {_any(_hexed('f', [one]))})")
    return f"({' OR '.join(ways)})" if ways else ""
