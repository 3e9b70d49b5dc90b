"""What can be done, as a value: each door says every act, in commands, requests and tool calls that there are."""

import re
from string import Formatter

import click
import pytest
from msgspec import structs

from moot.cli.app import root
from moot.cli.frame.hints import COMMANDS, command
from moot.client.transport.refusal import error_from
from moot.doors.http.api.hint_requests import REQUESTS, request
from moot.doors.http.api.problems import problem
from moot.doors.http.api.routes import ROUTES
from moot.doors.mcp.hint_calls import CALLS, call, refusal
from moot.doors.mcp.tools import BY_NAME
from moot.errors import Closed
from moot.model.hint import Act, Hint, from_data, to_data, worded

EVERY = {name: name.upper() for name, kind in Hint.__annotations__.items() if kind is str}


def facts_in(row: str) -> set[str]:
    return {name for _, name, _, _ in Formatter().parse(row) if name}


@pytest.mark.parametrize("table", [COMMANDS, REQUESTS, CALLS], ids=["shell", "http", "mcp"])
def test_every_door_says_every_act(table: dict[Act, str]) -> None:
    assert set(table) == set(Act)
    for act, row in table.items():
        more = {"id"} if facts_in(COMMANDS[act]) == {"conversation"} else set()
        assert facts_in(row) <= facts_in(COMMANDS[act]) | more, act


@pytest.mark.parametrize("act", Act)
def test_the_shell_names_commands_that_there_are(act: Act) -> None:
    words = (
        command(Hint(act, agents=("a", "b"), **EVERY))
        .partition("moot ")[2]
        .removeprefix("--home DIR ")
        .split()
    )
    node: click.Command = root
    while isinstance(node, click.Group) and words and words[0] != "…":
        found = node.get_command(click.Context(node), words.pop(0))
        assert found is not None, act
        node = found


@pytest.mark.parametrize("act", [act for act in Act if REQUESTS[act].split(" ")[0].isupper()])
def test_http_names_routes_that_there_are(act: Act) -> None:
    method, path = request(Hint(act, agents=("a", "b"), **EVERY)).split(" ")[:2]
    wanted = re.sub(r"/[A-Z]+(?=/|$)", "/{}", path.partition("?")[0])
    assert (method, wanted) in {(route.method, re.sub(r"{\w+}", "{}", route.path)) for route in ROUTES}


@pytest.mark.parametrize("act", [act for act in Act if "(" in CALLS[act]])
def test_mcp_names_tools_and_arguments_that_there_are(act: Act) -> None:
    name, _, given = CALLS[act].rstrip(")").partition("(")
    known = {field.name for field in structs.fields(BY_NAME[name].arguments)}
    assert set(re.findall(r"(\w+)=", given)) <= known


def test_the_same_refusal_in_the_terms_of_each_door() -> None:
    refused = Closed("b is archived", fix=(Hint(Act.UNARCHIVE, conversation="my room", id="c1"), "wait"))
    assert worded(refused.fix, command) == ["moot conv unarchive 'my room'", "wait"]
    assert problem(refused).value["fix"] == ["POST /api/conversations/c1/unarchive", "wait"]
    assert refusal(refused)["fix"] == ["ask the owner to unarchive my room", "wait"]


def test_a_fact_cannot_leave_its_place() -> None:
    named = Hint(Act.POST, conversation='x"); $(rm -rf ~) {agent}/../y')
    assert command(named) == """moot send --conv 'x"); $(rm -rf ~) {agent}/../y' "…\""""
    assert (
        request(named)
        == "POST /api/conversations/x%22%29%3B%20%24%28rm%20-rf%20~%29%20%7Bagent%7D%2F..%2Fy/messages"
    )
    assert call(named) == r'post(conversation="x\"); $(rm -rf ~) {agent}/../y", text="…")'


def test_a_refusal_of_a_hub_elsewhere_keeps_its_hints() -> None:
    refused = Closed("b is archived", fix=(Hint(Act.UNARCHIVE, conversation="b", id="c1"), "wait"))
    assert refused.to_dict()["fix"] == [{"act": "unarchive", "conversation": "b", "id": "c1"}, "wait"]
    assert error_from(refused.to_dict()).fix == refused.fix


def test_an_act_of_a_newer_hub_is_left_out() -> None:
    known = to_data([Hint(Act.LIST_AGENTS), "wait"])
    assert from_data([{"act": "fly"}, 7, *known]) == (Hint(Act.LIST_AGENTS), "wait")
