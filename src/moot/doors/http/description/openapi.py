"""OpenAPI 3.1, generated from the table of routes."""

import re
from collections.abc import Iterable, Sequence
from typing import Any, get_args

import msgspec
from msgspec import Struct, structs

from moot.doors.http.api import constraints
from moot.doors.http.api.problems import JSON, PROBLEM, STATUSES
from moot.doors.http.api.route import POSITION, Route, SocketRoute
from moot.doors.http.api.schema import NoQuery, Problem
from moot.doors.http.description.related import leads
from moot.errors import (
    BadName,
    BadValue,
    Conflict,
    MootError,
    NotFound,
    NotPermitted,
    RateLimited,
    Unauthenticated,
)
from moot.model.answer import Warned
from moot.model.hint import Act, Hint

UPGRADE = 426
REF = "#/components/schemas/{name}"
ALWAYS = (Unauthenticated, NotPermitted, NotFound, BadValue, RateLimited)
"""Not found: whom Moot-Act-As names."""
HEADERS = {
    "Idempotency-Key": "Repeating a request with the same key returns the same answer and stores nothing twice",
    "If-Match": "The version you read",
    "Last-Event-ID": "Resume after this event",
}
IN_TURN = {
    "name": "Moot-Turn",
    "in": "header",
    "required": False,
    "description": "An open turn of an outside agent; the message is posted as part of that turn",
    "schema": {"type": "string"},
}
ACT_AS = {
    "name": "Moot-Act-As",
    "in": "header",
    "required": False,
    "description": "Only with the owner's token: the participant to act as",
    "schema": {"type": "string"},
}


def document(routes: Sequence[Route], version: str, sockets: Sequence[SocketRoute] = ()) -> dict[str, Any]:
    kinds = _kinds(routes)
    schemas, components = msgspec.json.schema_components(kinds, ref_template=REF)
    for inside in (Hint.__name__, Act.__name__):  # in_words says them as texts
        del components[inside]
    components[Warned.__name__]["properties"]["fix"]["items"] = {"type": "string"}
    of = dict(zip([repr(kind) for kind in kinds], schemas, strict=True))
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        operation = _operation(route, of)
        if follow := leads(route, routes):
            operation["responses"][str(route.status)]["links"] = follow
        paths.setdefault(route.path, {})[route.method.lower()] = operation
    for socket in sockets:
        paths.setdefault(socket.path, {})["get"] = _socket(socket, of)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Moot",
            "version": version,
            "description": "Durable talk between AI agents and people.",
        },
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {"token": {"type": "http", "scheme": "bearer"}},
        },
        "security": [{"token": []}],
    }


def _kinds(routes: Iterable[Route]) -> list[Any]:
    kinds: dict[str, Any] = {repr(Problem): Problem}
    for route in routes:
        for kind in (route.body, route.answer, route.refusal):
            if kind is not None and kind not in (str, bytes):
                kinds[repr(kind)] = kind
    return list(kinds.values())


def _operation(route: Route, of: dict[str, Any]) -> dict[str, Any]:
    operation: dict[str, Any] = {
        "summary": route.summary,
        "operationId": route.operation,
        "tags": [route.path.split("/")[2] if route.path.startswith("/api/") else "operations"],
        "parameters": _parameters(route),
        "responses": _responses(route, of),
    }
    if route.body is not None:
        content = {"application/json": {"schema": of[repr(route.body)]}}
        operation["requestBody"] = {"required": True, "content": content}
    if route.action is None:
        operation["security"] = []
    return operation


def _socket(socket: SocketRoute, of: dict[str, Any]) -> dict[str, Any]:
    """OpenAPI cannot describe a WebSocket: a GET that asks for an upgrade."""
    refusals = (*socket.errors, *ALWAYS)
    responses: dict[str, Any] = {
        "101": {"description": "Switched to WebSocket: text frames in both directions"}
    }
    for status, kinds in _by_status(refusals).items():
        responses[str(status)] = _refusal(kinds, of)
    responses[str(UPGRADE)] = _refusal([BadValue], of)
    return {
        "summary": socket.summary,
        "operationId": "_".join(re.findall(r"\w+", socket.path)),
        "tags": ["websocket"],
        "parameters": [*_path_parameters(socket.path), *_query_parameters(socket.query), ACT_AS],
        "responses": dict(sorted(responses.items())),
    }


def _path_parameters(path: str) -> list[dict[str, Any]]:
    return [
        {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}
        for name in re.findall(r"{(\w+)}", path)
    ]


def _query_parameters(query: type[Struct]) -> list[dict[str, Any]]:
    return [_query(field, query) for field in structs.fields(query)] if query is not NoQuery else []


def _parameters(route: Route) -> list[dict[str, Any]]:
    parameters = [*_path_parameters(route.path), *_query_parameters(route.query)]
    parameters += [
        {"name": name, "in": "header", "required": _needs(name, route), "schema": constraints.HEADERS[name]}
        | {"description": HEADERS[name]}
        for name in route.headers
    ]
    return [*parameters, ACT_AS, IN_TURN] if route.action is not None else parameters


def _needs(header: str, route: Route) -> bool:
    """Whether a header is required: not if the body can carry the same value."""
    return header == "If-Match" and "version" not in getattr(route.body, "__struct_fields__", ())


def _query(field: structs.FieldInfo, query: type[Struct]) -> dict[str, Any]:
    schema = msgspec.json.schema(_without_none(field.type))
    required = field.required
    if not required and field.default is not None:
        schema["default"] = field.default
    return {"name": field.encode_name, "in": "query", "required": required, "schema": schema}


def _without_none(hint: Any) -> Any:
    kinds = [kind for kind in get_args(hint) if kind is not type(None)]
    return kinds[0] if type(None) in get_args(hint) and len(kinds) == 1 else hint


def _responses(route: Route, of: dict[str, Any]) -> dict[str, Any]:
    good: dict[str, Any] = {"description": "Done"}
    if route.answer is not None:
        schema = {"type": "string"} if route.answer in (str, bytes) else of[repr(route.answer)]
        good["content"] = {route.media: {"schema": schema}}
    if route.is_snapshot:
        position = "The newest event that this surely contains: follow /api/events after it"
        good["headers"] = {POSITION: {"description": position, "schema": {"type": "integer"}}}
    responses = {str(route.status): good}
    if "Idempotency-Key" in route.headers and route.status != 200:  # noqa: PLR2004
        responses["200"] = good | {"description": "Already done, with the same key"}
    if route.silent:
        responses["204"] = {"description": "Done, nothing was said"}
    for status, kinds in _refusals(route).items():
        response = _refusal(kinds, of)
        if route.refusal is not None and {NotPermitted, NotFound, RateLimited}.intersection(kinds):
            response["content"][JSON] = {"schema": of[repr(route.refusal)]}
        responses.setdefault(str(status), response)
    return dict(sorted(responses.items()))


def _refusal(kinds: Iterable[type[MootError]], of: dict[str, Any]) -> dict[str, Any]:
    titles = "; ".join(
        dict.fromkeys((kind.__doc__ or kind.name).partition("\n\n")[0].strip() for kind in kinds)
    )
    return {"description": titles, "content": {PROBLEM: {"schema": of[repr(Problem)]}}}


def _by_status(kinds: Iterable[type[MootError]]) -> dict[int, list[type[MootError]]]:
    by_status: dict[int, list[type[MootError]]] = {}
    for kind in kinds:
        by_status.setdefault(STATUSES[kind], []).append(kind)
    return by_status


def _refusals(route: Route) -> dict[int, list[type[MootError]]]:
    by_status = _by_status((*route.errors, *(ALWAYS if route.action is not None else (BadValue,))))
    if BadName in route.errors:
        by_status.setdefault(STATUSES[Conflict], []).append(Conflict)
    if route.body is not None:
        by_status.setdefault(400, []).append(BadValue)
        by_status.setdefault(408, []).append(BadValue)
        by_status.setdefault(413, []).append(BadValue)
        by_status.setdefault(415, []).append(BadValue)
    if "If-Match" in route.headers:
        by_status.setdefault(412, []).append(BadValue)
        by_status.setdefault(428, []).append(BadValue)
    return by_status
