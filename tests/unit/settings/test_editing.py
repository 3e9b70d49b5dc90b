"""One value changes; every other character of the file stays."""

import tomllib
from typing import Any

import pytest

from moot.settings.toml.edits import Unplaced, literal, with_row, with_value, without_row
from moot.settings.toml.positions import Path

OWN = """\
# my team
[hub]            # where it listens
port = 8420      # not 8000, node is there

[[agents]]
  name = "arya"  # the first
  role = "old"

  # gendry reviews
[[agents]]
name = "gendry"

[bridges.telegram]
bots.arya = "${TOKEN}"
"""


@pytest.mark.parametrize(
    ("path", "value", "old", "new"),
    [
        (("hub", "port"), "0", "port = 8420      # not", "port = 0      # not"),
        (("hub", "user"), '"karl"', "node is there\n", 'node is there\nuser = "karl"\n'),
        (("agents", 0, "role"), '"new"', 'role = "old"', 'role = "new"'),
        (("agents", 0, "brain"), '"demo"', '  role = "old"\n', '  role = "old"\n  brain = "demo"\n'),
        (("agents", 1, "role"), '"r"', 'name = "gendry"\n', 'name = "gendry"\nrole = "r"\n'),
        (("groups", "max_depth"), "4", "\n", "\n"),
        (("bridges", "telegram", "default_agent"), '"arya"', '"${TOKEN}"\n', '"${TOKEN}"\ndefault_agent = "arya"\n'),
        (("bridges", "telegram", "bots", "a.b"), '"x"', '"${TOKEN}"\n', '"${TOKEN}"\nbots."a.b" = "x"\n'),
    ],
)  # fmt: skip
def test_only_the_value_changes(path: Path, value: str, old: str, new: str) -> None:
    made = with_value(OWN, path, value)
    if path[0] == "groups":
        assert made == OWN + "\n[groups]\nmax_depth = 4\n"
    else:
        assert made == OWN.replace(old, new, 1)


@pytest.mark.parametrize(
    ("text", "path", "expected"),
    [
        ("", ("hub", "port"), "[hub]\nport = 1\n"),
        ("# only a comment", ("hub", "port"), "# only a comment\n\n[hub]\nport = 1\n"),
        ("[hub]", ("hub", "port"), "[hub]\nport = 1"),
        ("[hub]\n[log]\n", ("hub", "port"), "[hub]\nport = 1\n[log]\n"),
        ("hub = {}\n", ("hub", "port"), "hub = { port = 1 }\n"),
        ('hub = { user = "k" }', ("hub", "port"), 'hub = { user = "k", port = 1 }'),
        ('hub.user = "k" # me\n[log]\n', ("hub", "port"), 'hub.user = "k" # me\nhub.port = 1\n[log]\n'),
        ('[hub]\nuser = """\n[log]\n"""\n', ("hub", "port"), '[hub]\nuser = """\n[log]\n"""\nport = 1\n'),
        ('[bridges.telegram]\ndefault_agent = "a"\n', ("bridges", "discord", "identity"), None),
    ],
)
def test_every_layout_has_its_place(text: str, path: Path, expected: str | None) -> None:
    made = with_value(text, path, "1")
    if expected is not None:
        assert made == expected
    value: Any = tomllib.loads(made)
    for part in path:
        value = value[part]
    assert value == 1


def test_a_row_that_is_not_there_has_no_place() -> None:
    with pytest.raises((Unplaced, IndexError, KeyError)):
        with_value(OWN, ("agents", 7, "role"), '"x"')


@pytest.mark.parametrize(
    ("value", "typed", "expected"),
    [
        (True, "yes", "true"),
        (30.0, "30", "30"),
        (30.0, "3e1", "3e1"),
        (30.0, "thirty", "30.0"),
        (1_000, "1_000", "1_000"),
        ('a "b"\\\n', "", '"a \\"b\\"\\\\\\n"'),
        ("é\x7f", "", '"é\\u007f"'),
        (["shell:git,ls", "notes"], "", '["shell:git,ls", "notes"]'),
    ],
)
def test_a_value_is_written_as_toml(value: Any, typed: str, expected: str) -> None:
    made = literal(value, typed)
    assert made == expected
    assert tomllib.loads(f"x = {made}")["x"] == value


# --- rows ----------------------------------------------------------------------------------------------------

FIN = {"name": '"fin"', "role": '"counts"'}
ROW = '[[agents]]\nname = "fin"\nrole = "counts"\n'


def test_a_new_row_stands_behind_the_last_one() -> None:
    made = with_row(OWN, "agents", FIN)
    assert made == OWN.replace('name = "gendry"\n', f'name = "gendry"\n\n{ROW}')


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", ROW),
        ("# only a comment", f"# only a comment\n\n{ROW}"),
        ("[hub]\nport = 1\n\n\n", f"[hub]\nport = 1\n\n{ROW}"),
        (
            '[[agents]]\nname = "a"\n# tools = []\n\n# mine\n[log]\n',
            f'[[agents]]\nname = "a"\n# tools = []\n\n{ROW}\n# mine\n[log]\n',
        ),
    ],
)
def test_a_new_row_finds_its_place(text: str, expected: str) -> None:
    assert with_row(text, "agents", FIN) == expected


@pytest.mark.parametrize("text", ["agents = []\n", 'agents = [{ name = "a" }]\n'])
def test_rows_in_one_line_are_left_to_their_owner(text: str) -> None:
    with pytest.raises(Unplaced):
        with_row(text, "agents", FIN)


def test_a_row_goes_with_its_own_comments_and_no_others() -> None:
    text = (
        '# the team\n[[agents]]\nname = "a"  # first\n# tools = []\n\n'
        '# about b\n[[agents]]\nname = "b"\n\n# the end\n'
    )
    assert without_row(text, "agents", 0) == ('# the team\n# about b\n[[agents]]\nname = "b"\n\n# the end\n')
    assert without_row(text, "agents", 1) == (
        '# the team\n[[agents]]\nname = "a"  # first\n# tools = []\n\n# about b\n# the end\n'
    )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('[[agents]]\nname = "a"', "\n"),
        ('[hub]\n\n[[agents]]\nname = "a"\n', "[hub]\n"),
        ('[[agents]]\nname = "a"\n# of log\n[log]\n', "# of log\n[log]\n"),
        ('[[agents]]\nname = "a"\nrole = """\n[x]\n"""\n[log]\n', "[log]\n"),
    ],
)
def test_the_last_row_leaves_no_trace(text: str, expected: str) -> None:
    assert without_row(text, "agents", 0) == expected


def test_adding_a_row_and_taking_it_out_gives_the_text_again() -> None:
    assert without_row(with_row(OWN, "agents", FIN), "agents", 2) == OWN
