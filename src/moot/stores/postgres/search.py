"""A query in PostgreSQL's terms: words and traits from one index, and plain conditions beside them.

Traits are artificial words with a prefix that no word has: what a message contains, its marks, whom it mentions.
stores/query_match.py derives them; every index must agree with it. Above: reads.py.
"""

from collections.abc import Mapping, Sequence
from typing import Any

from moot.model.ids import ConversationId, ParticipantId
from moot.model.message import Message
from moot.model.query import Has, Mark, Query
from moot.stores.postgres.words import join_words, words
from moot.stores.query_match import holds, marked

FOREVER = 2**62


def searchable(message: Message) -> tuple[str, str]:
    """The words and the traits of a message, as they are stored with it."""
    traits = [
        *(f"#h{has}" for has in Has if holds(message, has)),
        *(f"#m{mark}" for mark in Mark if marked(message, mark)),
        *map(_mentions, message.mentions),
    ]
    return join_words(words(message.text)), "".join(f"{trait} " for trait in traits)


def _mentions(participant_id: ParticipantId) -> str:
    return f"#t{participant_id.encode('utf-8', 'replace').hex()}"


def conditions(
    query: Query, limit: int, pairs: Mapping[ParticipantId, Sequence[ConversationId]]
) -> list[Any] | None:
    """The arguments of the statement, in its order; None if nothing can match."""
    phrases = [found_words for term in query.terms if (found_words := words(term))]
    if query.terms and not phrases:
        return None
    direct = [(where, agent) for agent, places in pairs.items() for where in places]
    excluded = [] if Mark.DELETED in query.marks else [f"#m{Mark.DELETED}"]
    return [
        max(limit, 0),
        sorted({word for phrase in phrases for word in phrase}),
        [join_words(phrase) for phrase in phrases if len(phrase) > 1],
        storable(query.authors),
        storable(query.places),
        storable(query.kinds),
        storable(query.rooms),
        [*(f"#h{has}" for has in query.has), *(f"#m{mark}" for mark in query.marks)],
        excluded,
        [_mentions(agent) for agent in query.addressed],
        [where for where, _ in direct],
        [agent for _, agent in direct],
        _micros(query.after, -FOREVER),
        _micros(query.before, FOREVER),
        query.reader,
    ]


def storable(names: Sequence[str]) -> list[str]:
    """Names with those that no row can hold replaced by one that no row has, so that they match nothing."""
    return [name if is_storable(name) else "\ufffd" for name in names]


def is_storable(name: str) -> bool:
    return "\0" not in name and (name.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in name))


def _micros(moment: float | None, otherwise: int) -> int:
    return otherwise if moment is None else round(moment * 1_000_000)
