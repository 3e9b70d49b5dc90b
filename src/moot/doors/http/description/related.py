"""Where an answer leads: OpenAPI links, found in the table. What a route makes, other routes can be asked about."""

from collections.abc import Iterable
from typing import Any, Final

from moot import shapes
from moot.doors.http.api.decisions import DecisionList
from moot.doors.http.api.route import Route, SubjectKind
from moot.doors.http.api.schema import TurnList
from moot.model.answer import Receipt

CREATED: Final = 201
ID: Final = {"id": "$response.body#/id"}
NAME: Final = {"name": "$response.body#/name"}
MAKERS: Final[dict[Any, dict[SubjectKind, dict[str, str]]]] = {
    shapes.Conversation: {
        SubjectKind.CONVERSATION: ID,
        SubjectKind.SEAT: {**ID, "name": "$response.body#/participants/0/name"},
    },
    Receipt: {SubjectKind.MESSAGE: ID},
    shapes.Agent: {SubjectKind.AGENT: NAME},
    TurnList: {SubjectKind.TURN: {"id": "$response.body#/turns/0/id"}},
}
"""Answer → the subjects it identifies, and how."""
BELOW: Final[dict[Any, tuple[str, dict[str, str]]]] = {
    shapes.MadeLink: ("/api/links/{id}", ID),
    shapes.Task: ("/api/tasks/{id}", ID),
    shapes.Note: ("/api/notes/{name}", NAME),
    DecisionList: ("/api/decisions/{id}", {"id": "$response.body#/decisions/0/id"}),
}
"""Answers whose routes all lie below one path."""
TOKEN: Final = {"name": "$request.path.name", **ID}


def leads(route: Route, routes: Iterable[Route]) -> dict[str, Any]:
    """From a route that makes something to every route about such a thing."""
    if route.answer is shapes.IssuedToken:
        return _to((one for one in routes if one.path.endswith("/tokens/{id}")), TOKEN)
    if (route.status == CREATED or route.answer is DecisionList) and route.answer in BELOW:
        path, parameters = BELOW[route.answer]
        return _to((one for one in routes if one.path.startswith(path)), parameters)
    links: dict[str, Any] = {}
    if route.status == CREATED or route.answer is TurnList:
        for about, parameters in MAKERS.get(route.answer, {}).items():
            links |= _to(
                (one for one in routes if one.about is about and _needs(one) == set(parameters)), parameters
            )
    return links


def _needs(route: Route) -> set[str]:
    return {part[1:-1] for part in route.path.split("/") if part.startswith("{")}


def _to(routes: Iterable[Route], parameters: dict[str, str]) -> dict[str, Any]:
    return {
        route.operation: {"operationId": route.operation, "parameters": parameters}
        for route in routes
        if not route.streams
    }
