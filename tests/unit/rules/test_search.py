"""A search as it is typed: what is an operator, what is text, and what cannot mean anything."""

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.errors import BadValue
from moot.model.conversation import ConversationKind
from moot.model.participant import Kind
from moot.model.query import Has, Mark
from moot.rules.words.search import (
    ELSEWHERE,
    EXAMPLES,
    OPERATORS,
    Filter,
    Operator,
    ParsedSearch,
    parse,
    query,
)

NOW = 1_800_000_000.0
DAY = 86400


def typed(text: str) -> tuple[list[str], list[str]]:
    found = parse(text, NOW)
    return list(found.terms), [str(each) for each in found.filters]


@pytest.mark.req("J-12")
@pytest.mark.parametrize(
    ("text", "terms", "filters"),
    [
        ("", [], []),
        ("  \t\n ", [], []),
        ("two words", ["two", "words"], []),
        ('"exact phrase" word', ["exact phrase", "word"], []),
        ('"never closed phrase', ["never closed phrase"], []),
        ('""', [], []),
        ("from:arya plan", ["plan"], ["from:arya"]),
        ("FROM:Arya", [], ["from:Arya"]),
        ('in:"my room" x', ["x"], ['in:"my room"']),
        ("to:@bob in:#build", [], ["to:@bob", "in:#build"]),
        ("kind:agent has:link is:edited", [], ["kind:agent", "has:link", "is:edited"]),
        ("after:2d before:2026-11-01", [], ["after:2d", "before:2026-11-01"]),
        ('"from:arya"', ["from:arya"], []),
        ('say "from:arya" aloud', ["say", "from:arya", "aloud"], []),
        ("https://example.org:80/a?b=c", ["https://example.org:80/a?b=c"], []),
        ("12:30 std::vector C:\\x a:b room:", ["12:30", "std::vector", "C:\\x", "a:b", "room:"], []),
        ("localhost:8420 note:this", ["localhost:8420", "note:this"], []),
        ("-from:arya (from:arya", ["-from:arya", "(from:arya"], []),
        ("a\0b", ["a", "b"], []),
        ("\ud800", ["?"], []),
    ],
)
def test_what_is_text_and_what_is_an_operator(text: str, terms: list[str], filters: list[str]) -> None:
    assert typed(text) == (terms, filters)


@pytest.mark.req("J-12")
@pytest.mark.parametrize("word", ELSEWHERE)
def test_what_others_call_an_operator_is_refused_with_ours(word: str) -> None:
    with pytest.raises(BadValue) as raised:
        parse(f"{word}:arya", NOW)
    assert all(f"{known}:" in raised.value.detail for known in OPERATORS)
    assert raised.value.fix == (f"{ELSEWHERE[word]}:arya", f'to search for the text itself: "{word}:arya"')
    assert parse(raised.value.fix[1].partition(": ")[2], NOW).terms == (f"{word}:arya",)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("from:", "needs a value"),
        ('in:""', "needs a value"),
        ("kind:robot", "kind: takes human, agent"),
        ("has:fun", "has: takes link"),
        ("is:unread", "is: takes edited"),
        ("after:soon", "expected a date"),
        ("before:2026-13-40", "expected a date"),
        ("after:20261101", "expected a date"),
        ("before:2026-11-01Tnoon", "expected a date"),
        ("after:99999999999999d", "expected a date"),
        ("word " * 65, "64 words"),
    ],
)
def test_what_cannot_mean_anything_is_refused_in_words(text: str, expected: str) -> None:
    with pytest.raises(BadValue) as raised:
        parse(text, NOW)
    assert expected in f"{raised.value.title} {raised.value.detail}"


@pytest.mark.parametrize(
    ("value", "at"),
    [
        ("2026-11-01", 1793491200.0),
        ("2026-11-01T10:00Z", 1793491200.0 + 36000),
        ("2026-11-01T10:00:00.5+02:00", 1793491200.0 + 28800.5),
        ("2026-11-01 10:00", 1793491200.0 + 36000),
        ("90s", NOW - 90),
        ("2d", NOW - 2 * DAY),
        ("1w", NOW - 7 * DAY),
        ("999999w", 0.0),
    ],
)
def test_moments(value: str, at: float) -> None:
    assert parse(f'after:"{value}"', NOW).filters == (Filter(Operator.AFTER, value, at),)


def test_every_operator_has_an_example_that_holds() -> None:
    for operator, value in EXAMPLES.items():
        assert parse(f"{operator}:{value}", NOW).filters[0].operator is operator
    assert set(EXAMPLES) == set(Operator)


def test_a_query_takes_any_of_one_operator_and_the_narrowest_times() -> None:
    asked = parse(
        'from:a from:b in:r kind:agent kind:direct has:link has:code is:partial after:2d after:1d before:1h "x y"',
        NOW,
    )
    meant = {each: (each.value.upper(),) for each in asked.filters if each.operator in ("from", "in")}
    found = query(asked, meant, None)
    assert (found.authors, found.places) == (("A", "B"), ("R",))
    assert (found.kinds, found.rooms) == ((Kind.AGENT,), (ConversationKind.DIRECT,))
    assert (found.has, found.marks) == ((Has.LINK, Has.CODE), (Mark.PARTIAL,))
    assert (found.after, found.before, found.terms) == (NOW - DAY, NOW - 3600, ("x y",))


PIECES = st.sampled_from(
    [
        *(f"{word}:" for word in (*OPERATORS, *ELSEWHERE, "x", "http")),
        '"',
        " ",
        "agent",
        "link",
        "2d",
        "é",
        "\0",
    ]
)


@given(st.text() | st.lists(PIECES | st.text(max_size=3)).map("".join))
def test_whatever_is_typed_is_understood_or_refused_in_words(text: str) -> None:
    found = ParsedSearch()
    with suppress(BadValue):
        found = parse(text, NOW)
    assert all(term.strip() == term != "" and '"' not in term for term in found.terms)
    for each in found.filters:
        assert parse(str(each), NOW).filters == (each,)


@given(st.text().filter(lambda text: '"' not in text and text.strip() and "\0" not in text))
def test_in_quotes_everything_is_text(text: str) -> None:
    clean = text.encode("utf-8", "replace").decode().strip()
    assert parse(f'"{text}"', NOW) == ParsedSearch((clean,), ())
