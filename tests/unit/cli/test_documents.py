"""Somebody else's settings file: an entry goes in and out, and everything else stays."""

import json
import os
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moot.cli.mcp.clients.documents import Add, Edit, Put, read, with_edits, without_edits
from moot.cli.mcp.clients.files import Unreadable, content

JSON, TOML = Path("settings.json"), Path("config.toml")
OURS: tuple[Edit, ...] = (
    Put(("mcpServers", "moot"), {"command": "/bin/moot", "args": ["mcp"]}),
    Add(("hooks", "Stop"), {"hooks": [{"type": "command", "command": "moot"}]}),
)
TABLE: tuple[Edit, ...] = (Put(("mcp_servers", "moot"), {"command": "/bin/moot", "args": ["mcp", "--x"]}),)

values = st.recursive(
    st.none() | st.booleans() | st.integers(-(10**9), 10**9) | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3),
    max_leaves=8,
)
servers = st.dictionaries(st.sampled_from(["other", "third"]), values, max_size=2)
hooks = st.dictionaries(st.sampled_from(["Stop", "PreToolUse"]), st.lists(values, max_size=2), max_size=2)
files = st.fixed_dictionaries(
    {}, optional={"model": values, "mcpServers": servers, "hooks": hooks, "ä": values}
)
layouts = st.sampled_from([None, 1, 2, 4, "\t"])


def dumped(document: dict[str, Any], indent: Any, end: str) -> bytes:
    return (json.dumps(document, indent=indent, ensure_ascii=False) + end).encode()


@given(files, layouts, st.sampled_from(["", "\n", "\n\n"]))
def test_what_goes_in_comes_out_and_leaves_the_very_bytes(
    document: dict[str, Any], indent: Any, end: str
) -> None:
    before = dumped(document, indent, end)
    there = with_edits(JSON, before, OURS)
    assert json.loads(there)["mcpServers"]["moot"] == OURS[0].value
    assert OURS[1].value in json.loads(there)["hooks"]["Stop"]
    assert with_edits(JSON, there, OURS) == there, "a second time changes nothing"
    assert without_edits(JSON, there, OURS, before) == before


@given(files, values)
def test_what_others_wrote_since_stays(document: dict[str, Any], mine: Any) -> None:
    before = dumped(document, 2, "\n")
    there = json.loads(with_edits(JSON, before, OURS))
    there["since"] = mine
    there["mcpServers"]["newer"] = mine
    left = without_edits(JSON, dumped(there, 2, "\n"), OURS, before)
    assert left is not None
    newer = {**document.get("mcpServers", {}), "newer": mine}
    assert json.loads(left) == {**document, "since": mine, "mcpServers": newer}


def test_a_file_that_was_not_there_is_gone_again() -> None:
    made = with_edits(JSON, None, OURS)
    assert without_edits(JSON, made, OURS, None) is None
    assert with_edits(JSON, b"", OURS) == made
    assert without_edits(JSON, made, OURS, b"") == b""


@pytest.mark.parametrize("indent", ["  ", "    ", "\t"])
def test_the_layout_of_the_file_is_kept(indent: str) -> None:
    before = f'{{\n{indent}"model": "x"\n}}'.encode()
    made = with_edits(JSON, before, OURS).decode()
    assert made.splitlines()[1].startswith(f'{indent}"')
    assert not made.endswith("\n")


TEXTS = [
    "",
    "# only words",
    'model = "x"\n',
    '[mcp_servers.other]\ncommand = "x"\n\n[mcp_servers.other.env]\nA = "[mcp_servers.moot]"\n# end',
    'mcp_servers = { other = { command = "x" } }\n',
]


@pytest.mark.parametrize("text", TEXTS[:4])
@pytest.mark.parametrize("after", ["", "\n[last]\nx = 1\n", "\n[mcp_servers.moot.env]\nA = 'b'\n"])
def test_a_table_goes_in_and_out_of_toml_and_the_words_around_it_stay(text: str, after: str) -> None:
    before = text.encode()
    there = with_edits(TOML, before, TABLE)
    assert tomllib.loads(there.decode())["mcp_servers"]["moot"] == TABLE[0].value
    assert without_edits(TOML, there, TABLE, before) == before
    left = without_edits(TOML, b"first = 1\n" + there + after.encode(), TABLE, before)
    assert left is not None
    kept = {"last": {"x": 1}} if "last" in after else {}
    assert tomllib.loads(left.decode()) == {"first": 1, **tomllib.loads(text), **kept}
    assert all(line in left.decode() for line in text.splitlines() if line.startswith("#"))


def test_toml_that_has_no_place_for_the_table_is_left_alone() -> None:
    with pytest.raises(Unreadable):
        with_edits(TOML, TEXTS[4].encode(), TABLE)


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (JSON, b'{"a": 1,}'),
        (JSON, b'{"a": 1} // mine'),
        (JSON, b"[1]"),
        (JSON, b"\xff\xfe"),
        (TOML, b"a = = 1"),
        (TOML, b"\xff"),
    ],
)
def test_what_cannot_be_read_is_said_so(path: Path, data: bytes) -> None:
    with pytest.raises(Unreadable, match=path.name):
        read(path, data)
    with pytest.raises(Unreadable):
        with_edits(path, data, OURS)


NUMBERS = b"""{
  "version": 1.10,
  "large": 123456789012345678901234567890,
  "small": [1e5, -0, 1E400, 0.1000],
  "text": "caf\\u00e9 \\/ \\ud800",
  "\\ud800": true
}
"""


def test_texts_and_numbers_stay_as_they_were_written() -> None:
    there = with_edits(JSON, NUMBERS, OURS)
    for line in NUMBERS.splitlines()[1:4]:
        for number in line.split(b": ")[1].strip(b"[],").split(b", "):
            assert number in there
    assert b'"text": "caf\\u00e9 \\/ \\ud800"' in there
    assert b'"\\ud800": true' in there
    later = there.replace(b"1.10", b"1.20")
    left = without_edits(JSON, later, OURS, NUMBERS)
    assert left is not None
    assert b'"version": 1.20,' in left
    assert b"1E400" in left


def test_a_pipe_where_the_file_should_be_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "settings.json")
    with pytest.raises(Unreadable, match="not a regular file"):
        content(tmp_path / "settings.json")
    assert content(tmp_path / "missing.json") is None
