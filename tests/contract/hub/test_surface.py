"""The public surface is the same every way: what one of the ways lacks is named, with its reason."""

import inspect
from typing import Any

import pytest

from moot import Hub
from moot.client.agents import RemoteAgents
from moot.client.conversations import RemoteConversations
from moot.client.hub import RemoteHub
from moot.client.transport.paging import SEVERAL
from moot.client.transport.requests import NOT_OVER_HTTP, WAYS
from moot.doors.http.api.routes import ROUTES
from moot.hub.agents import Agents
from moot.hub.conversations import Conversations
from moot.hub.process.rpc import METHODS, ONLY_HERE

SIDES = (
    ("", Hub, RemoteHub),
    ("conversations.", Conversations, RemoteConversations),
    ("agents.", Agents, RemoteAgents),
)
LIFE = {"find", "close"}
"""How a client comes to a hub and leaves it."""
INSIDE = {"status", "settled everywhere"}
"""Requests that are no methods of their own: who one is, and `settled` without a conversation."""


def public(kind: type, prefix: str = "") -> dict[str, Any]:
    return {
        f"{prefix}{name}": getattr(kind, name)
        for name, value in vars(kind).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, classmethod))
    }


HERE = {name: method for prefix, here, _ in SIDES for name, method in public(here, prefix).items()}
THERE = {name: method for prefix, _, there in SIDES for name, method in public(there, prefix).items()}


def test_every_method_can_be_called_from_afar_or_says_why_not() -> None:
    assert set(HERE) == METHODS | set(ONLY_HERE)
    assert METHODS & set(ONLY_HERE) == set()
    assert set(THERE) >= METHODS
    assert set(THERE) - METHODS - set(ONLY_HERE) == LIFE


def test_every_method_has_a_way_over_http_or_says_why_not() -> None:
    over_http = set(WAYS) - INSIDE
    assert over_http | set(NOT_OVER_HTTP) == METHODS
    assert over_http & set(NOT_OVER_HTTP) == set()
    assert set(SEVERAL) <= METHODS
    assert all(reason for reason in (*ONLY_HERE.values(), *NOT_OVER_HTTP.values()))


@pytest.mark.parametrize("name", sorted(METHODS | {"events", "acting_as"}))
def test_a_method_takes_the_same_from_afar(name: str) -> None:
    def taken(method: Any) -> list[tuple[str, Any, Any]]:
        parameters = inspect.signature(method).parameters.values()
        return [(one.name, one.kind, one.default) for one in parameters]

    assert taken(THERE[name]) == taken(HERE[name])


@pytest.mark.parametrize("method", sorted(WAYS))
def test_a_way_leads_to_a_route_that_takes_what_it_sends(method: str) -> None:
    way = WAYS[method]
    rows = {(route.method, _blank(route.path)): route for route in ROUTES}
    route = rows[way.verb, _blank(way.path)]
    assert set(way.headers.values()) <= set(route.headers)
    named: dict[str, Any] = {}
    if method in HERE:
        parameters = inspect.signature(HERE[method]).parameters.values()
        named = {one.name: "1" for one in parameters if one.name != "self" and one.kind != one.VAR_KEYWORD}
        named = {**named, "channel": ("a", "b")} if "channel" in named else named
    request = way.request(named, "me")
    assert "{" not in request.path
    fields = route.body.__struct_encode_fields__ if route.body is not None else ()
    assert set(request.body or {}) <= set(fields)
    assert set(request.query) <= set(route.query.__struct_encode_fields__)
    assert not way.part or way.part in route.answer.__struct_encode_fields__


def _blank(path: str) -> tuple[str, ...]:
    return tuple("{}" if part.startswith("{") else part for part in path.split("/"))
