"""What an agent pays for: the list of tools, counted; and that it says what the table says."""

import re
from collections.abc import Iterable

import pytest
from mcp_types import Tool
from msgspec import json

from moot.cli.mcp.relay import REPEATABLE_TOOLS
from moot.doors.mcp.server import ALL_TOOLS, INSTRUCTIONS, server
from moot.doors.mcp.tools import BY_NAME, TOOLS

MAX_TOKENS = 1500


def tokens(text: str) -> int:
    """More than any tokenizer in use counts for such a text: every word between underscores, every underscore and every
    sign by itself. Theirs take `":"` and `"},"` for one, which are half of it, and no common word for more than one."""
    return len(re.findall(r"[^\W_]+|_|[^\w\s]", text))


def cost(listed: Iterable[Tool]) -> int:
    """Of what a client sends a model: names, descriptions, schemas, and the instructions. Annotations it keeps for its
    own prompts and permissions."""
    sent = [
        tool.model_dump(by_alias=True, exclude_none=True, mode="json", exclude={"annotations"})
        for tool in listed
    ]
    return tokens(json.encode(sent).decode()) + tokens(INSTRUCTIONS)


FOR_NEWCOMERS, FOR_OTHERS = (
    {"set_name"},
    {"delegate", "spawn_agent", "update_task", "read_shared_note", "write_shared_note"},
)
"""Never listed together: test_notes.py shows it of a caller that has everything."""


@pytest.mark.req("M-10")
@pytest.mark.parametrize("left_out", [FOR_NEWCOMERS, FOR_OTHERS], ids=["others", "newcomers"])
def test_all_that_one_caller_can_be_listed_is_cheap(left_out: set[str]) -> None:
    listed = [tool for tool in ALL_TOOLS if tool.name not in left_out]
    assert cost(listed) < MAX_TOKENS, cost(listed)


@pytest.mark.req("J-02")
def test_the_tools_of_the_seed_are_there_and_aliases_are_not_listed() -> None:
    names = [tool.name for tool in ALL_TOOLS]
    assert len(names) == len(set(names)) == len(TOOLS)
    assert {
        "send_to_agent",
        "list_agents",
        "broadcast",
        "set_name",
        "check_messages",
        "wait_for_messages",
        "ask",
        "delegate",
        "update_task",
    } < set(names)
    aliases = BY_NAME.keys() - set(names)
    assert aliases == {"send_agent_message", "set_tab_name"}


def test_what_reads_says_so_and_nothing_destroys() -> None:
    hints = {tool.name: tool.annotations for tool in ALL_TOOLS}
    for tool in TOOLS:
        hint = hints[tool.name]
        assert hint is not None
        assert bool(hint.read_only_hint) is tool.reads
        assert hint.destructive_hint is not True
        assert hint.open_world_hint is (None if tool.reads else False), "of what only reads it says nothing"


def test_what_may_be_asked_twice_changes_nothing_or_is_handed_out_again() -> None:
    handing = {"check_messages", "wait_for_messages"}
    assert {tool.name for tool in TOOLS if tool.reads} | handing == REPEATABLE_TOOLS


def test_every_description_fits_a_line_and_every_argument_has_a_type() -> None:
    for tool in ALL_TOOLS:
        assert tool.description is not None
        assert len(tool.description) <= 90
        properties = tool.input_schema.get("properties", {})
        assert all("type" in schema for schema in properties.values()), tool.name
        assert set(tool.input_schema.get("required", ())) <= properties.keys()


def test_the_sdk_finds_a_schema_without_writing_out_the_table() -> None:
    """It asks for one at every call, and where it is not told it lists all tools to find it."""
    look_up = server(lambda ctx: pytest.fail("nobody calls")).get_tool_input_schema
    assert look_up is not None
    assert {tool.name: look_up(tool.name) for tool in ALL_TOOLS} == {
        t.name: t.input_schema for t in ALL_TOOLS
    }
    assert look_up("no such tool") is None
