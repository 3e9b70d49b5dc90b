"""People are shown names, not ids, and what they are shown they can type again."""

import re
import shlex
from collections.abc import Callable

import pytest

from tests.doors.cli.shell import Shell, Told

Moot = Callable[..., Told]
AN_ID = re.compile(r"\bc1[0-9a-z]{10,}\b")
"""Ids of conversations all begin so; names in these tests do not."""


@pytest.fixture
def talked(shell: Shell, moot: Moot) -> Moot:
    toml = shell.home / "moot.toml"
    toml.write_text(toml.read_text() + '\n[[agents]]\nname = "hermit"\nbrain = "external"\n')
    moot("conv", "new", "work", "--with", "arya,broken,quiet")
    moot("send", "--conv", "work", "@arya hello")
    moot("send", "--conv", "work", "@broken hello")
    moot("send", "quiet", "a question of its own")
    return moot


SHOWN = (
    "conv new other --with arya",
    "conv add work gendry",
    "send --conv work @hermit hello",
    "send hermit hello --no-wait",
    "send slow hello --timeout 0.1",
    "send broken hello",
    "ask hermit --timeout 0.1 -- hello",
    "tail",
    "inbox",
    "inbox --agent hermit",
    "search hello",
    "turns",
    "turn dead",
    "turn show 1",
    "turn retry 2",
    "why work:1",
    "why work:2",
    "status",
    "conv show work",
    "chat arya '/search hello'",
    "chat quiet /inbox",
    "chat --conv work /why",
    "conv archive work",
)


def test_no_id_is_shown_where_there_is_a_name(talked: Moot) -> None:
    for line in SHOWN:
        told = talked(*shlex.split(line))
        assert told.out + told.err, line
        assert AN_ID.findall(told.out + told.err) == [], line


def test_what_is_shown_of_a_message_can_be_typed_again_also_when_it_was_put_away(talked: Moot) -> None:
    shown = {line.split()[1] for line in talked("tail").out.splitlines()}
    assert len(shown) >= 5
    for address in shown:
        assert talked("why", address).code == 0, address
        assert talked("conv", "show", address.rpartition(":")[0]).code == 0


def test_a_name_that_was_taken_again_means_the_one_that_is_open(talked: Moot) -> None:
    before = talked("conv", "show", "work", "--json").json["id"]
    talked("conv", "archive", "work")
    assert talked("conv", "show", "work", "--json").json["id"] == before
    refused = talked("send", "--conv", "work", "hello")
    assert (refused.code, refused.err.splitlines()[0]) == (
        5,
        "error[E305] work is archived: it can be read, but not written to",
    )
    talked("conv", "new", "work", "--with", "arya")
    assert talked("conv", "show", "work", "--json").json["id"] != before
