"""What may be called what: INTERFACES "Home and settings", RELIABILITY T-NAME."""

import re
from unicodedata import normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.rules.words.mentions import parse
from moot.rules.words.names import (
    RESERVED,
    NameProblem,
    check_conversation_name,
    check_display,
    check_name,
    is_name,
    skeleton,
    slug,
    unique_slug,
)

names = st.from_regex(r"[a-z]([a-z0-9_.-]{0,61}[a-z0-9_-])?", fullmatch=True)


def refusal(name: str, *, taken: tuple[str, ...] = (), human: str = "user") -> NameProblem:
    with pytest.raises(NameProblem) as caught:
        check_name(name, taken=taken, human=human)
    return caught.value


@pytest.mark.parametrize("name", ["arya", "a", "gemini-2", "gpt-4.1", "code_reviewer", "a" * 63, "x-", "con"])
def test_a_well_shaped_free_name_is_accepted(name: str) -> None:
    check_name(name, taken=["gendry"], human="user")


@pytest.mark.parametrize(
    "name",
    [
        *(
            "",
            "Arya",
            "1st",
            "-x",
            "_x",
            ".x",
            "arya.",
            "a b",
            "a" * 64,
            "../x",
            "/etc",
            "%2e%2e",
            "a\0",
            "a/b",
        ),
        *(
            "\u0430rya",
            "ar\u0130a",
            "e\u0301",
            "\u202earya",
            "ar\u200bya",
            "$(id)",
            "a;b",
            "arya\n",
            "x" * 300,
        ),
        *("@all", "a:b", "\ud800"),
    ],
)
def test_a_badly_shaped_name_is_refused_with_the_shape_that_is_expected(name: str) -> None:
    problem = refusal(name)
    assert problem.problem == "shape"
    assert problem.name == name
    assert "a-z 0-9 _ . -" in problem.expected
    assert problem.clashes_with is None
    assert len(str(problem)) < 400
    str(problem).encode()  # printable whatever the name held


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("Arya", "arya"),
        ("Code Reviewer", "code-reviewer"),
        ("Élodie", "elodie"),
        ("2nd.", "nd"),
        ("a/../b", "a-..-b"),
    ],
)
def test_a_badly_shaped_name_comes_back_with_one_that_would_do(name: str, better: str) -> None:
    assert refusal(name).suggestions[0] == better


@pytest.mark.parametrize("name", sorted(RESERVED))
def test_reserved_names_are_refused(name: str) -> None:
    problem = refusal(name)
    assert (problem.problem, problem.clashes_with) == ("reserved", name)
    assert name in problem.expected


def test_the_humans_name_is_reserved_whatever_its_case() -> None:
    check_name("karl", taken=(), human="user")
    assert refusal("karl", human="Karl").problem == "reserved"


def test_a_taken_name_is_refused_and_free_ones_like_it_are_offered() -> None:
    problem = refusal("arya", taken=("arya", "arya-2"))
    assert (problem.problem, problem.clashes_with) == ("taken", "arya")
    assert problem.suggestions == ("arya-3", "arya-4", "arya-5")


@pytest.mark.parametrize(
    ("name", "other"),
    [("rnary", "mary"), ("mary", "rnary"), ("b0b", "bob"), ("c1aude", "claude"), ("clam10", "clarnlo")],
)
def test_a_name_that_looks_like_one_in_use_is_refused_and_names_it(name: str, other: str) -> None:
    check_name(name, taken=(), human="user")
    problem = refusal(name, taken=(other,))
    assert (problem.problem, problem.clashes_with) == ("confusable", other)
    assert other in problem.expected


@pytest.mark.parametrize(
    ("name", "other"),
    [("a11", "all"), ("t00l", "tool"), ("systern", "system"), ("adrnin", "admin"), ("n0ne", "none")],
)
def test_a_name_that_looks_like_a_reserved_one_is_refused(name: str, other: str) -> None:
    problem = refusal(name)
    assert (problem.problem, problem.clashes_with) == ("confusable", other)


def test_letters_unicode_does_not_call_confusable_stay_apart() -> None:
    for one, other in [
        ("ian", "lan"),
        ("vv", "w"),
        ("cl", "d"),
        ("a-b", "a_b"),
        ("a.b", "a-b"),
        ("s5", "ss"),
    ]:
        assert skeleton(one) != skeleton(other)


@given(names, st.lists(names, max_size=6), names)
def test_what_is_suggested_is_free(name: str, taken: list[str], human: str) -> None:
    try:
        check_name(name, taken=taken, human=human)
    except NameProblem as problem:
        for better in problem.suggestions:
            check_name(better, taken=taken, human=human)


@given(st.text(), st.text())
def test_any_text_is_accepted_or_refused_but_never_breaks_the_check(name: str, human: str) -> None:
    problem = None
    try:
        check_name(name, taken=["arya"], human=human)
    except NameProblem as raised:
        problem = raised
    assert problem is not None or is_name(name)
    assert problem is None or all(is_name(better) for better in problem.suggestions)
    str(problem).encode()


@pytest.mark.req("A-05")
@given(names)
def test_every_valid_name_can_be_mentioned(name: str) -> None:
    assert parse(f"hey @{name}, hello") == (name,)


# ── ids


@pytest.mark.parametrize(
    ("name", "made"),
    [
        ("arya", "arya"),
        ("gpt-4.1", "gpt-4-1"),
        ("a_.-b", "a-b"),
        ("x-", "x"),
        ("Élodie Ünal", "elodie-unal"),
        ("日本", "agent"),
        ("", "agent"),
        ("../..", "agent"),
        ("ﬁle", "file"),
        ("a" * 99, "a" * 63),
        ("a" * 62 + "-b", "a" * 62),
    ],
)
def test_a_name_becomes_an_id_of_letters_digits_and_single_dashes(name: str, made: str) -> None:
    assert slug(name) == made


@given(st.text())
def test_an_id_is_always_safe_in_a_path_a_topic_and_a_url(name: str) -> None:
    made = slug(name)
    assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", made)
    assert len(made) <= 63
    assert slug(made) == made


def test_an_id_in_use_is_numbered_from_two() -> None:
    assert unique_slug("a.b", []) == "a-b"
    assert unique_slug("a.b", ["a-b"]) == "a-b-2"
    assert unique_slug("a_b", ["a-b", "a-b-2", "a-b-4"]) == "a-b-3"
    assert unique_slug("a" * 63, ["a" * 63]) == "a" * 61 + "-2"


@given(names, st.integers(0, 12))
def test_a_unique_id_is_new_and_no_longer_than_others(name: str, rounds: int) -> None:
    taken: list[str] = []
    for _ in range(rounds):
        made = unique_slug(name, taken)
        assert made not in taken
        assert re.fullmatch(r"[a-z0-9]+(?:-[a-z0-9]+)*", made)
        assert len(made) <= 63
        taken.append(made)


# ── display and conversation names

UNSHOWN = {
    "a control": "a\x07b",
    "NUL": "a\0b",
    "a newline": "a\nb",
    "a line separator": "a\u2028b",
    "a bidi override": "a\u202eb",
    "a bidi isolate": "a\u2066b",
    "a zero-width space": "a\u200bb",
    "a zero-width joiner": "a\u200db",
    "a soft hyphen": "a\u00adb",
    "a byte order mark": "a\ufeffb",
    "a blank letter": "a\u3164b",
    "a lone surrogate": "a\ud800b",
    "a tag": "a\U000e0061b",
}


@pytest.mark.parametrize("text", UNSHOWN.values(), ids=UNSHOWN)
@pytest.mark.parametrize("check", [check_display, check_conversation_name])
def test_what_cannot_be_seen_is_refused_and_pointed_out(check: type[str], text: str) -> None:
    check("a b")
    with pytest.raises(NameProblem) as caught:
        check(text)
    assert caught.value.problem == "shape"
    assert f"U+{ord(text[1]):04X}" in caught.value.expected
    str(caught.value).encode()


@pytest.mark.parametrize(
    "text", ["Arya Stark", "Éloïse", "日本", "Анна", "😀", "O'Brien, PhD", "-x", "a:b/c"]
)
def test_a_display_name_is_free_text(text: str) -> None:
    assert check_display(f"  {text} ") == text


def test_a_display_name_is_stored_composed() -> None:
    assert check_display("e\u0301") == "é"


@pytest.mark.parametrize(("check", "longest"), [(check_display, 128), (check_conversation_name, 100)])
def test_lengths_are_exact(check: type[str], longest: int) -> None:
    assert check("é" * longest) == "é" * longest
    for wrong in ["", "   ", "x" * (longest + 1), "x" * 1_000_000]:
        with pytest.raises(NameProblem, match=f"1 to {longest}"):
            check(wrong)


@pytest.mark.parametrize(
    "name", ["market-team", "Market Team", "Q3 planning!", "日本語", "a.b", "...", "x-", "a@b"]
)
def test_a_conversation_name_may_be_words(name: str) -> None:
    assert check_conversation_name(f" {name}\n") == name


@pytest.mark.parametrize(
    ("name", "better"),
    [
        *[("-rf", ("rf",)), ("--", ()), ("@arya", ("arya",)), ("#team", ("team",)), ("link:3", ("link-3",))],
        *[("a / b", ("a-b",)), (".", ()), ("..", ()), ("../../etc", ("etc",)), ("https://x", ("https-x",))],
    ],
)
def test_a_conversation_name_that_a_shell_or_a_url_would_misread_is_refused(
    name: str, better: tuple[str, ...]
) -> None:
    with pytest.raises(NameProblem) as caught:
        check_conversation_name(name)
    assert caught.value.problem == "shape"
    assert caught.value.suggestions == better


@given(st.one_of(st.text(max_size=150), st.text(":/-@#. ae\u0301", max_size=120)))
def test_what_is_accepted_or_suggested_is_accepted_unchanged(text: str) -> None:
    for check in (check_display, check_conversation_name):
        try:
            kept = [check(text)]
        except NameProblem as problem:
            kept = list(problem.suggestions)
        for name in kept:
            assert check(name) == name == normalize("NFC", name)
