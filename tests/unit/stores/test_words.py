"""Whatever is typed becomes an FTS5 expression that means its words."""

from collections.abc import Iterator

import apsw
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moot.stores.sqlite.words import MOST_WORDS, quoted

SYNTAX = st.sampled_from([*"\"'*^(){}:-+,.\\ \x00ab", "AND", "OR", "NOT", "NEAR(", "content", "\ud800"])
QUERIES = st.one_of(st.text(), st.lists(SYNTAX, max_size=20).map("".join), st.lists(SYNTAX).map(" ".join))


@pytest.fixture(scope="module")
def index() -> Iterator[apsw.Connection]:
    connection = apsw.Connection(":memory:")
    connection.execute("CREATE VIRTUAL TABLE words USING fts5 (content)")
    connection.execute("INSERT INTO words VALUES ('a b AND NEAR content')")
    yield connection
    connection.close()


@given(QUERIES)
@settings(max_examples=2000)
def test_no_query_is_a_syntax_error(index: apsw.Connection, query: str) -> None:
    expression = quoted(query)
    if expression:
        index.execute("SELECT rowid FROM words WHERE words MATCH ?", (expression,)).fetchall()


@given(
    st.lists(st.sampled_from(["a", "b", "AND", "NEAR", "content", "A", '"a"', "(b)", "b*", "-a"]), min_size=1)
)
def test_words_that_are_there_are_found_whatever_surrounds_them(
    index: apsw.Connection, words: list[str]
) -> None:
    expression = quoted(" ".join(words))
    assert index.execute("SELECT count(*) FROM words WHERE words MATCH ?", (expression,)).get == 1


@pytest.mark.parametrize(
    ("query", "expression"),
    [
        ("", ""),
        (" \t\n", ""),
        ("one", '"one"'),
        ("one two", '"one" "two"'),
        ('say "hi"', '"say" """hi"""'),
        ("a\x00b", '"a" "b"'),
        ("a-b", '"a-b"'),
    ],
)
def test_each_word_is_quoted(query: str, expression: str) -> None:
    assert quoted(query) == expression


def test_a_flood_of_words_is_cut() -> None:
    assert quoted("x " * 100_000).count('"x"') == MOST_WORDS
