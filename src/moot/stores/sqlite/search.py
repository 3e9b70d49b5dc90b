"""Search over one connection: what must be known first, then one look into the index.

Words, people, places and kinds are met in the index itself. Times are not in it: they first narrow the rows, and
then each row is asked. So nothing here reads the messages from end to end.
"""

from typing import Any

import apsw

from moot.model.ids import ConversationId
from moot.model.message import Message
from moot.model.query import Query
from moot.stores import rows
from moot.stores.sqlite.fts_query import expression
from moot.stores.sqlite.statements import SEARCH

FOREVER = 2**62
MAX_PLACES = 500
"""Conversations that the index is asked for by name, which costs 0.04 ms each. Who is in more sees most of what is
there, and then it is quicker to ask each hit."""


def found(connection: apsw.Connection, query: Query, limit: int) -> list[tuple[Message, str]]:
    parameters = _parameters(connection, query, limit)
    if parameters is None:
        return []
    return [
        (rows.MESSAGES.one(shape), piece) for shape, piece in connection.execute(SEARCH.search, parameters)
    ]


def counted(connection: apsw.Connection, query: Query, limit: int) -> int:
    parameters = _parameters(connection, query, limit)
    return 0 if parameters is None else int(connection.execute(SEARCH.count, parameters).get)


def _parameters(connection: apsw.Connection, query: Query, limit: int) -> dict[str, Any] | None:
    """What is bound to the statement; None where nothing can be found."""
    visible: list[ConversationId] = []
    if query.reader is not None:
        visible = _all(connection, SEARCH.places_of, query.reader, MAX_PLACES + 1)
        if not visible:
            return None
    after, before = _micros(query.after, -FOREVER), _micros(query.before, FOREVER)
    first, last = 0, FOREVER
    if query.after is not None or query.before is not None:
        [(first, last)] = connection.execute(SEARCH.rows_between, (after, before))
        if first is None:
            return None
    pairs = {one: _all(connection, SEARCH.pairs_of, one) for one in query.addressed}
    narrow = visible if len(visible) <= MAX_PLACES else []
    return {
        "words": expression(query, visible=narrow, pairs=pairs),
        "first": first,
        "last": last,
        "after": after,
        "before": before,
        "reader": query.reader,
        "limit": max(limit, 0),
    }


def _all(connection: apsw.Connection, statement: str, *values: Any) -> list[ConversationId]:
    return [ConversationId(where) for (where,) in connection.execute(statement, values)]


def _micros(moment: float | None, otherwise: int) -> int:
    return otherwise if moment is None else round(moment * 1_000_000)
