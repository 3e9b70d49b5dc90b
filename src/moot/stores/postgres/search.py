"""What a query means to PostgreSQL: words and traits that one index holds, and plain conditions beside them.

Traits are made-up words with a mark that no word has: what a message holds, what became of it, whom it mentions. They
are read off by stores/query_match.py, the plain reading that every index must agree with. Above: reads.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import Message
from moot.model.query import Has, Mark, Query
from moot.stores.postgres.words import joined, words
from moot.stores.query_match import holds, marked

FOREVER = 2**62


def searchable(message: Message) -> tuple[str, str]:
    """The words and the traits of a message, as they are stored with it."""
    traits = [
        *(f"#h{has}" for has in Has if holds(message, has)),
        *(f"#m{mark}" for mark in Mark if marked(message, mark)),
        *map(_mentions, message.mentions),
    ]
    return joined(words(message.text)), "".join(f"{trait} " for trait in traits)


def _mentions(who: ParticipantId) -> str:
    return f"#t{who.encode('utf-8', 'replace').hex()}"


def conditions(
    query: Query, limit: int, pairs: Mapping[ParticipantId, Sequence[ConversationId]]
) -> list[Any] | None:
    """What is bound to the statement, in its order; None where nothing can be found."""
    phrases = [cut for term in query.terms if (cut := words(term))]
    if query.terms and not phrases:
        return None
    alone = [(where, one) for one, places in pairs.items() for where in places]
    unwanted = [] if Mark.DELETED in query.marks else [f"#m{Mark.DELETED}"]
    return [
        max(limit, 0),
        sorted({word for phrase in phrases for word in phrase}),
        [joined(phrase) for phrase in phrases if len(phrase) > 1],
        storable(query.authors),
        storable(query.places),
        storable(query.kinds),
        storable(query.rooms),
        [*(f"#h{has}" for has in query.has), *(f"#m{mark}" for mark in query.marks)],
        unwanted,
        [_mentions(one) for one in query.addressed],
        [where for where, _ in alone],
        [one for _, one in alone],
        _micros(query.after, -FOREVER),
        _micros(query.before, FOREVER),
        query.reader,
    ]


def storable(names: Sequence[str]) -> list[str]:
    """What no row can hold is nobody's name; something that no row has stands for it, so that nothing is found."""
    return [name if is_storable(name) else "\ufffd" for name in names]


def is_storable(name: str) -> bool:
    return "\0" not in name and not any("\ud800" <= letter <= "\udfff" for letter in name)


def _micros(moment: float | None, otherwise: int) -> int:
    return otherwise if moment is None else round(moment * 1_000_000)
