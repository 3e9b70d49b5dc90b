"""Whatever is asked becomes an FTS5 expression that means its words."""

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.model.conversation import ConversationKind
from moot.model.ids import ConversationId, ParticipantId
from moot.model.participant import Kind
from moot.model.query import Has, Mark, Query
from moot.stores.sqlite.fts_query import expression

SYNTAX = st.sampled_from([*"\"'*^(){}:-+,.\\ \x00ab", "AND", "OR", "NOT", "NEAR(", "content", "\ud800"])
TEXTS = st.one_of(st.text(), st.lists(SYNTAX, max_size=20).map("".join), st.lists(SYNTAX).map(" ".join))
NAMES = st.lists(TEXTS, max_size=3).map(tuple)
QUERIES = st.builds(
    Query,
    terms=NAMES,
    authors=NAMES,
    addressed=NAMES,
    places=NAMES,
    kinds=st.lists(st.sampled_from(Kind), max_size=3).map(tuple),
    rooms=st.lists(st.sampled_from(ConversationKind), max_size=3).map(tuple),
    has=st.lists(st.sampled_from(Has), max_size=3).map(tuple),
    marks=st.lists(st.sampled_from(Mark), max_size=3).map(tuple),
)


@pytest.fixture(scope="module")
def index() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (content, traits)")
    connection.execute("INSERT INTO words VALUES ('a b AND NEAR content', 'kagent f61 c63')")
    yield connection
    connection.close()


def found(index: apsw.Connection, asked: str) -> int:
    return int(index.execute("SELECT count(*) FROM words WHERE words MATCH ?", (asked,)).get)


@pytest.mark.timeout(300)  # a thousand rich examples take their time beside other work
@given(QUERIES, NAMES)
@settings(max_examples=1000)
def test_no_query_is_a_syntax_error(index: apsw.Connection, query: Query, places: tuple[str, ...]) -> None:
    where = tuple(map(ConversationId, places))
    found(index, expression(query, visible=where, pairs=dict.fromkeys(query.addressed, where)))


@given(
    st.lists(st.sampled_from(["a", "b", "AND", "NEAR", "content", "A", '"a"', "(b)", "b*", "-a"]), min_size=1)
)
def test_words_that_are_there_are_found_whatever_surrounds_them(
    index: apsw.Connection, words: list[str]
) -> None:
    assert found(index, expression(Query(terms=tuple(words)), visible=(), pairs={})) == 1


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (Query(terms=("one", 'say "hi"')), '(content : ("one" "say ""hi""")) NOT traits : ("mdeleted")'),
        (Query(authors=(ParticipantId("a"), ParticipantId("b")), marks=(Mark.DELETED,)),
         'traits : ("f61" OR "f62") AND traits : ("mdeleted")'),
        (Query(addressed=(ParticipantId("a"),), marks=(Mark.DELETED,)),
         '(traits : ("t61") OR (traits : ("c70") NOT traits : ("f61"))) AND traits : ("mdeleted")'),
    ],
)  # fmt: skip
def test_how_it_is_written(query: Query, expected: str) -> None:
    pairs = {ParticipantId("a"): [ConversationId("p")]}
    assert expression(query, visible=(), pairs=pairs) == expected


def test_traits_are_no_words_and_words_no_traits(index: apsw.Connection) -> None:
    assert found(index, expression(Query(terms=("kagent",)), visible=(), pairs={})) == 0
    assert found(index, expression(Query(kinds=(Kind.AGENT,)), visible=(), pairs={})) == 1
