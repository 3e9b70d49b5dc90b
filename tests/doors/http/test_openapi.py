"""The description for machines says what the table says, and what the server does."""

from typing import Any

from moot.doors.http.api.routes import ROUTES, SOCKETS
from moot.doors.http.description.openapi import document
from tests.doors.http.world import World

DOCUMENT = document(ROUTES, "1", SOCKETS)


def refs(value: Any) -> set[str]:
    if isinstance(value, dict):
        found = {value["$ref"]} if "$ref" in value else set()
        return found.union(*(refs(inside) for inside in value.values()))
    if isinstance(value, list):
        return set().union(*(refs(inside) for inside in value))
    return set()


def test_every_route_is_described_once() -> None:
    described = {
        f"{method.upper()} {path}" for path, methods in DOCUMENT["paths"].items() for method in methods
    }
    assert described == {route.key for route in ROUTES} | {f"GET {socket.path}" for socket in SOCKETS}
    ids = [one["operationId"] for methods in DOCUMENT["paths"].values() for one in methods.values()]
    assert len(ids) == len(set(ids))


def test_every_reference_leads_somewhere() -> None:
    known = {f"#/components/schemas/{name}" for name in DOCUMENT["components"]["schemas"]}
    assert refs(DOCUMENT) <= known
    assert DOCUMENT["components"]["schemas"]["Message"]["properties"]["from"] == {"type": "string"}


def test_what_can_be_done_is_described_as_texts() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    assert [schemas[name]["properties"]["fix"]["items"] for name in ("Warned", "Problem")] == [
        {"type": "string"}
    ] * 2
    assert "Hint" not in schemas


def test_what_comes_in_is_closed() -> None:
    schemas = DOCUMENT["components"]["schemas"]
    for route in ROUTES:
        if route.body is not None:
            assert schemas[route.body.__name__]["additionalProperties"] is False


async def test_the_server_gives_it(world: World) -> None:
    answer = await world.ask("arya", "GET", "/openapi.json")
    assert answer.json()["paths"] == DOCUMENT["paths"]
    assert answer.json()["openapi"] == "3.1.0"


WRITTEN_TO = {f"/api/agents/{{name}}/{way}" for way in ("messages", "send", "ask")}
"""Anybody may be written to, whether or not the caller made it."""


NAMED_BEFOREHAND = {
    "/api/agents/{name}/files/{id}",
    "/api/settings/{id}",
    "/api/providers/{name}/test",
}
"""Nobody makes these: which there are is fixed, and listed."""


def test_what_is_made_leads_to_everything_that_can_be_asked_about_it() -> None:
    made = {route.operation: route for route in ROUTES}
    led = {
        (operation["operationId"], target)
        for methods in DOCUMENT["paths"].values()
        for operation in methods.values()
        for answer in operation["responses"].values()
        for target in answer.get("links", {})
    }
    targets = {target for _, target in led}
    about = {route.operation for route in ROUTES if "{" in route.path and not route.streams}
    assert {made[one].path for one in about - targets} <= WRITTEN_TO | NAMED_BEFOREHAND
    assert ("post_conversations", "delete_conversations_id") in led
    assert ("post_agents_name_tokens", "delete_agents_name_tokens_id") in led
