"""The sources of the page hold what their own tools can hold."""

import json
import re
from pathlib import Path

import click
import pytest

from moot.cli.app import MootCommands
from moot.doors.http.api.routes import ROUTES, SOCKETS
from moot.doors.http.description.openapi import document
from tests.page import node


@pytest.mark.timeout(900)
def test_the_sources_are_typed_against_this_api_and_follow_their_rules(dashboard: Path) -> None:
    (dashboard / "openapi.json").write_text(json.dumps(document(ROUTES, "0", SOCKETS)))
    node.run("run", "api", "--silent")
    node.run("run", "types", "--silent")
    node.run("run", "lint", "--silent")


@pytest.mark.timeout(900)
@pytest.mark.req("S-16")
def test_what_needs_no_browser_is_tested_without_one(dashboard: Path) -> None:
    node.run("run", "test", "--silent")


def test_the_page_is_small_enough_to_be_there_at_once(built: Path) -> None:
    held = json.loads(node.run("run", "sizes", "--silent").strip().splitlines()[-1])
    assert held["sizes"]["first"] <= held["limits"]["first"] == 180_000
    assert held["sizes"]["all"] <= held["limits"]["all"] == 350_000


def named_commands() -> set[str]:
    """What the page tells people to type, without values and options."""
    sources = [path.read_text() for path in (node.DASHBOARD / "src").rglob("*.ts*")]
    named = re.findall(r"['\"`]moot ((?:[a-z-]+ ?){1,2})", "\n".join(sources))
    return {words.strip() for words in named}


def test_every_command_that_the_page_names_exists() -> None:
    found = named_commands()
    assert {"open", "config list", "mcp install", "backup create"} <= found
    root = MootCommands("moot")
    context = click.Context(root)
    for words in sorted(found):
        first, *rest = words.split()
        command = root.get_command(context, first)
        assert command is not None, words
        if isinstance(command, click.Group) and rest:
            assert command.get_command(context, rest[0]) is not None, words
