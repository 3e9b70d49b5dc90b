"""Every key is found where it stands, whatever else the file has that looks like it."""

import json
import tomllib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.settings.toml.positions import Path, line_and_column, offset_of, places


def where(text: str) -> dict[Path, tuple[int, int]]:
    tomllib.loads(text)  # the walk is only promised for what tomllib accepts
    return {path: line_and_column(text, place.start) for path, place in places(text).items()}


HOSTILE: list[tuple[str, str, Path, tuple[int, int]]] = [
    ("a plain key", "a = 1\nb = 2", ("b",), (2, 1)),
    ("an indented key", "[t]\n\t  b = 2", ("t", "b"), (2, 4)),
    ("the same key in two tables", "[s]\nk = 1\n[t]\nk = 2", ("t", "k"), (4, 1)),
    ("a comment that looks like it", "[t]\n# k = 1\nk = 2 # k = 3", ("t", "k"), (3, 1)),
    ("a comment with a header", "[t]\n#[u]\nk = 2", ("t", "k"), (3, 1)),
    ("a text with a line that looks like it", '[t]\na = """\nk = 1\n[u]\n"""\nk = 2', ("t", "k"), (6, 1)),
    ("a literal text with quotes in it", "[t]\na = '''\n\"\"\"\nk = 1'''\nk = 2", ("t", "k"), (5, 1)),
    ("an escaped quote", '[t]\na = "\\"\\\\"\nk = 2', ("t", "k"), (3, 1)),
    ("escaped quotes in many lines", '[t]\na = """\\"""\nk = 1 \\\\"""\nk = 2', ("t", "k"), (4, 1)),
    ("five quotes at the end", '[t]\na = """x"""""\nk = 2', ("t", "k"), (3, 1)),
    ("an empty long text", "[t]\na = ''''''\nb = \"\"\"\"\"\"\nk = 2", ("t", "k"), (4, 1)),
    ("a hash inside a text", "[t]\na = 'x # y'\nk = 2", ("t", "k"), (3, 1)),
    ("an equals sign inside a key", '"a = 1" = 3\na = 2', ("a",), (2, 1)),
    ("a quoted key", '[t]\n"k" = 2', ("t", "k"), (2, 1)),
    ("a literal key", "[t]\n'k\\n' = 2", ("t", "k\\n"), (2, 1)),
    ("a key with an escape", '[t]\n"\\u006b" = 2', ("t", "k"), (2, 1)),
    ("a key with a long escape", '[t]\n"\\U0001F600\\t" = 2', ("t", "\U0001f600\t"), (2, 1)),
    ("an empty key", '[t]\n"" = 2', ("t", ""), (2, 1)),
    ("a quoted key with a dot", '[t]\n"k.l" = 2', ("t", "k.l"), (2, 1)),
    ("a dotted key", "[t]\na.b = 1\na . c = 2", ("t", "a", "c"), (3, 1)),
    ("what a dotted key is in", "[t]\nx = 1\na.b = 1", ("t", "a"), (3, 1)),
    ("a dotted header", "[a . 'b']\nk = 1", ("a", "b", "k"), (2, 1)),
    ("what a dotted header is in", "x = 1\n[a.b]\nk = 1", ("a",), (2, 1)),
    ("a header with a comment", "[t] # [u]\nk = 1", ("t", "k"), (2, 1)),
    ("the second of several tables", "[[a]]\nk = 1\n[[a]]\nk = 2", ("a", 1, "k"), (4, 1)),
    ("the header of the second", "[[a]]\nk = 1\n\n[[a]]\n", ("a", 1), (4, 1)),
    ("a table inside a list of tables", "[[a]]\n[[a]]\n[a.b]\nk = 1", ("a", 1, "b", "k"), (4, 1)),
    (
        "lists of tables in lists of tables",
        "[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\n[[a.b]]\nk=1",
        ("a", 1, "b", 1, "k"),
        (6, 1),
    ),
    ("tables out of order", "[a.b]\nk=1\n[c]\n[a]\nk=2", ("a", "k"), (5, 1)),
    ("an element of a list", "a = [1,\n 2, # ]\n  3]", ("a", 2), (3, 3)),
    ("a list with brackets in texts", "a = ['],', \"]\",\n 3]\nk = 1", ("k",), (3, 1)),
    ("an empty list", "a = [ ]\nb = [\n]\nk = 1", ("k",), (4, 1)),
    ("a list that ends in a comma", "a = [[1], [2,], ]\nk = 1", ("a", 1, 0), (1, 12)),
    ("a key in an inline table", "a = { x = 1, y = {z = 'a,b}'}, k = 2 }", ("a", "k"), (1, 32)),
    ("a dotted key in an inline table", "a = { b.c = 1 , b.d = 2 }", ("a", "b", "d"), (1, 17)),
    ("an inline table in a list", "a = [ {}, { k = 1 },\n {k=2}]", ("a", 2, "k"), (2, 3)),
    ("a key behind a date with a space", "a = 1979-05-27 07:32:00\nk = 1", ("k",), (2, 1)),
    ("a key behind letters beyond ASCII", "a = { x = '\u00e9\U0001f600', k = 1 }", ("a", "k"), (1, 17)),
    ("a line separator that is not a line end", "a = 'x\u2028y'\nk = 1", ("k",), (2, 1)),
    ("a key of digits and dashes", "[1-2]\n3_-4 = 1", ("1-2", "3_-4"), (2, 1)),
]


@pytest.mark.parametrize(
    ("text", "path", "expected"), [row[1:] for row in HOSTILE], ids=[row[0] for row in HOSTILE]
)
def test_a_key_is_found_where_it_stands(text: str, path: Path, expected: tuple[int, int]) -> None:
    assert where(text)[path] == expected


def test_a_place_reaches_from_the_key_to_behind_the_value() -> None:
    text = "[t]\n  k = 'v'  # c"
    place = places(text)[("t", "k")]
    assert text[place.start : place.end] == "k = 'v'"
    assert text[place.value : place.end] == "'v'"


def test_a_bare_value_ends_before_the_white_space() -> None:
    text = "k = 12 \t # c"
    place = places(text)[("k",)]
    assert text[place.value : place.end] == "12"


@given(st.text(alphabet="ab\n\u00e9", max_size=30), st.integers(0, 30))
def test_an_offset_becomes_line_and_column_and_back(text: str, offset: int) -> None:
    offset = min(offset, len(text))
    assert offset_of(text, *line_and_column(text, offset)) == offset


keys = st.text(alphabet=st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=6)
scalars = st.booleans() | st.integers(-99, 99) | st.text(alphabet="a\"'\\#=[]{},.\n \u00e9", max_size=12)
trees = st.dictionaries(
    keys,
    st.recursive(scalars, lambda v: st.lists(v, max_size=3) | st.dictionaries(keys, v, max_size=3)),
    max_size=4,
)


def quoted(text: str) -> str:
    """JSON's escapes are TOML's, but for one letter that only TOML forbids to stand as it is."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def inline(value: Any) -> str:
    match value:
        case bool():
            return "true" if value else "false"
        case str():
            return quoted(value)
        case list():
            return "[ " + ", ".join(inline(item) for item in value) + " ]"
        case dict():
            return "{ " + ", ".join(f"{quoted(key)} = {inline(item)}" for key, item in value.items()) + " }"
        case _:
            return str(value)


def paths(value: Any, at: Path = ()) -> list[Path]:
    inner = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, item in inner for path in [(*at, key), *paths(item, (*at, key))]]


@given(trees, st.booleans())
def test_every_key_of_a_generated_file_has_a_place(tree: dict[str, Any], as_tables: bool) -> None:
    lines = []
    for key, value in tree.items():
        if as_tables and isinstance(value, dict):
            lines += [f"[{quoted(key)}] # c", *(f"{quoted(k)} = {inline(v)}" for k, v in value.items())]
        else:
            lines.insert(0, f"{quoted(key)} = {inline(value)}")
    text = "\n".join(lines)
    assert tomllib.loads(text) == tree
    found = places(text)
    assert set(found) == set(paths(tree))
    for path, place in found.items():
        if isinstance(path[-1], str) and not text.startswith("[", place.start):
            assert text.startswith(quoted(path[-1]), place.start)
