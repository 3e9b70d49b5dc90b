"""One parser for every surface: what a typed line means."""

from typing import Any, get_args

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.errors import BadValue
from moot.rules.words import slash

pytestmark = pytest.mark.req("G-12")

LINES: list[tuple[str, Any]] = [
    ("/group create arya gendry", slash.GroupCreateCommand(("arya", "gendry"))),
    ("/group create @arya, @gendry", slash.GroupCreateCommand(("arya", "gendry"))),
    ("/group create arya arya", slash.GroupCreateCommand(("arya",))),
    ("/group@writer_bot add critic", slash.GroupAddCommand(("critic",))),
    ("/group remove @critic", slash.GroupRemoveCommand(("critic",))),
    ("/group list", slash.GroupListCommand()),
    ("/group", slash.GroupListCommand()),
    ("/group dissolve", slash.GroupDissolveCommand()),
    ("/group config", slash.GroupConfigCommand()),
    ("/group config max_depth", slash.GroupConfigCommand("max_depth")),
    ("/group config max_depth 4", slash.GroupConfigCommand("max_depth", "4")),
    ("/Group CONFIG max_depth 4", slash.GroupConfigCommand("max_depth", "4")),
    ("/all who is ready?", slash.AllCommand("who is ready?")),
    ("/why", slash.WhyCommand()),
    ("  /why #12 ", slash.WhyCommand(12)),
    ("/continue", slash.ContinueCommand()),
    ("/stop", slash.StopCommand()),
    ("/stop @arya", slash.StopCommand("arya")),
    ("/retry", slash.RetryCommand()),
    ("/agents", slash.AgentsCommand()),
    ("/name brienne", slash.NameCommand("brienne")),
    ("/name @arya brienne", slash.NameCommand("brienne", "arya")),
    ("/inbox", slash.InboxCommand()),
    ("/switch #build", slash.SwitchCommand("#build")),
    ("/turns", slash.TurnsCommand()),
    ("/turns 3", slash.TurnsCommand(3)),
    ("/export", slash.ExportCommand()),
    ("/export notes.md", slash.ExportCommand("notes.md")),
    ("/theme light", slash.ThemeCommand(light=True)),
    ("/theme dark", slash.ThemeCommand(light=False)),
    ("/keys", slash.KeysCommand()),
    ("/search two words", slash.SearchCommand("two words")),
    ("/note", slash.ShowNoteCommand()),
    ("/notes deploy-status", slash.ShowNoteCommand("deploy-status")),
    ("/note deploy += canary: green", slash.AppendNoteCommand("deploy", "canary: green")),
    ("/links", slash.LinksCommand()),
    ("/spawn coder write the parser", slash.SpawnCommand("coder", "write the parser")),
    ("/link @arya", slash.LinksCommand("arya")),
    ("/note deploy +=one\ntwo", slash.AppendNoteCommand("deploy", "one\ntwo")),
    ("/archive", slash.ArchiveCommand()),
    ("/help", slash.HelpCommand()),
    ("/help /group", slash.HelpCommand("group")),
    ("/quit", slash.QuitCommand()),
    ("/exit", slash.QuitCommand()),
    ("/ask arya gendry -- is it ready?", slash.AskCommand(("arya", "gendry"), "is it ready?")),
    ("/ask arya --", slash.AskCommand(("arya",), "")),
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
    assert isinstance(command, slash.AskCommand)
    assert slash.with_names_found(command, {"arya", "gendry"}.__contains__) == slash.AskCommand(names, text)


def test_asking_nobody_known_is_refused() -> None:
    command = slash.parse("/ask somebody what now?")
    assert isinstance(command, slash.AskCommand)
    with pytest.raises(BadValue, match='nobody here is called "somebody"'):
        slash.with_names_found(command, {"arya"}.__contains__)


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
    assert slash.parse(line) == slash.HelpCommand()
