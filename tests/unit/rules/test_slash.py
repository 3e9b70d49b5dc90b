"""One parser for every surface: what a typed line means."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.errors import BadValue
from moot.rules.words import slash

pytestmark = pytest.mark.req("G-12")

LINES: list[tuple[str, Any]] = [
    ("/group create arya gendry", slash.GroupCreate(("arya", "gendry"))),
    ("/group create @arya, @gendry", slash.GroupCreate(("arya", "gendry"))),
    ("/group create arya arya", slash.GroupCreate(("arya",))),
    ("/group@writer_bot add critic", slash.GroupAdd(("critic",))),
    ("/group remove @critic", slash.GroupRemove(("critic",))),
    ("/group list", slash.GroupList()),
    ("/group", slash.GroupList()),
    ("/group dissolve", slash.GroupDissolve()),
    ("/group config", slash.GroupConfig()),
    ("/group config max_depth", slash.GroupConfig("max_depth")),
    ("/group config max_depth 4", slash.GroupConfig("max_depth", "4")),
    ("/Group CONFIG max_depth 4", slash.GroupConfig("max_depth", "4")),
    ("/all who is ready?", slash.All("who is ready?")),
    ("/why", slash.Why()),
    ("  /why #12 ", slash.Why(12)),
    ("/continue", slash.Continue()),
    ("/stop", slash.Stop()),
    ("/stop @arya", slash.Stop("arya")),
    ("/retry", slash.Retry()),
    ("/agents", slash.Agents()),
    ("/name brienne", slash.Name("brienne")),
    ("/name @arya brienne", slash.Name("brienne", "arya")),
    ("/inbox", slash.Inbox()),
    ("/search two words", slash.Search("two words")),
    ("/archive", slash.Archive()),
    ("/help", slash.Help()),
    ("/help /group", slash.Help("group")),
    ("/quit", slash.Quit()),
    ("/exit", slash.Quit()),
    ("/ask arya gendry -- is it ready?", slash.Ask(("arya", "gendry"), "is it ready?")),
    ("/ask arya --", slash.Ask(("arya",), "")),
]


@pytest.mark.parametrize(("line", "command"), LINES, ids=lambda value: str(value)[:40])
def test_a_line_is_the_command_it_says(line: str, command: Any) -> None:
    assert slash.parse(line) == command


@pytest.mark.parametrize(
    "line",
    [
        "hello",
        "what is /why for?",
        "see /usr/bin",
        "/usr/bin is full",
        "/etc/hosts",
        "/a.out crashes",
        "`/why` explains",
        "```\n/why\n```",
        "/ why",
        "/5 of them",
        "1/2",
        "/why? no",
        "@arya /stop",
    ],
)
def test_what_only_looks_like_a_command_is_text(line: str) -> None:
    assert slash.parse(line) == slash.Say(line)


@pytest.mark.parametrize(
    ("line", "text"),
    [("//why", "/why"), ("//compact @claude", "/compact @claude"), ("  //x", "/x"), ("///x", "//x")],
)
def test_two_slashes_send_one(line: str, text: str) -> None:
    assert slash.parse(line) == slash.Say(text)


@pytest.mark.parametrize(
    ("line", "near"),
    [("/wyh", "/why"), ("/contine", "/continue"), ("/group ad arya", "/group add"), ("/agent", "/agents")],
)
def test_an_unknown_command_is_never_sent_and_comes_with_the_nearest(line: str, near: str) -> None:
    with pytest.raises(BadValue, match="nothing was sent") as refused:
        slash.parse(line)
    assert near in refused.value.suggestions
    assert refused.value.fix[0] == near
    assert f"/{line}"[:20] in str(refused.value.fix[-1])


@pytest.mark.parametrize(
    "line",
    ["/group create", "/group add", "/group remove @", "/all", "/search", "/name", "/name a b c", "/ask"],
)
def test_a_command_that_lacks_its_words_says_which(line: str) -> None:
    with pytest.raises(BadValue, match="needs"):
        slash.parse(line)


@pytest.mark.parametrize("line", ["/why soon", "/quit now", "/retry arya", "/continue 3"])
def test_words_a_command_does_not_take_are_refused(line: str) -> None:
    with pytest.raises(BadValue):
        slash.parse(line)


@pytest.mark.parametrize(
    ("line", "names", "text"),
    [
        ("/ask arya what now?", ("arya",), "what now?"),
        ("/ask @arya, @gendry what now?", ("arya", "gendry"), "what now?"),
        ("/ask arya gendry", ("arya", "gendry"), ""),
        ("/ask Arya is it gendry?", ("arya",), "is it gendry?"),
        ("/ask arya  two\nlines", ("arya",), "two\nlines"),
        ("/ask arya -- gendry did it?", ("arya",), "gendry did it?"),
    ],
)
def test_names_are_told_from_the_question_by_who_is_known(
    line: str, names: tuple[str, ...], text: str
) -> None:
    command = slash.parse(line)
    assert isinstance(command, slash.Ask)
    assert slash.asked(command, {"arya", "gendry"}.__contains__) == slash.Ask(names, text)


def test_asking_nobody_known_is_refused() -> None:
    command = slash.parse("/ask somebody what now?")
    assert isinstance(command, slash.Ask)
    with pytest.raises(BadValue, match='nobody here is called "somebody"'):
        slash.asked(command, {"arya"}.__contains__)


def test_every_kind_of_command_is_made_by_a_row_and_every_row_has_its_words() -> None:
    made = {type(command) for _, command in LINES}
    assert made == set(get_args(slash.Command))
    assert set(slash.ALIASES.values()) <= set(slash.ROWS)
    for row in slash.ROWS.values():
        assert row.help
        assert not row.help.endswith(".")
    assert [form for form, _ in slash.help_lines()][-1] == "//TEXT"
    assert len(slash.help_lines("group")) == 6
    with pytest.raises(BadValue):
        slash.help_lines("nonsense")


@given(st.text())
def test_any_text_is_words_a_command_or_a_refusal(line: str) -> None:
    try:
        found: Any = slash.parse(line)
    except BadValue:
        found = None
    if not line.strip().startswith("/"):
        assert found == slash.Say(line)


@pytest.mark.parametrize("line", ["/", " / ", "/\n"])
def test_a_lone_slash_is_never_sent(line: str) -> None:
    assert slash.parse(line) == slash.Help()
