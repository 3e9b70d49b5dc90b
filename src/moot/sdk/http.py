"""Declare by which request a method is called over HTTP: `@http.get("/api/agents/{name}")`."""

from collections.abc import Callable
from typing import Any

from moot.sdk.call import F, declared
from moot.sdk.request import HttpCall


def get(path: str, **more: Any) -> Callable[[F], F]:
    return declared(HttpCall("GET", path, **more))


def post(path: str, **more: Any) -> Callable[[F], F]:
    return declared(HttpCall("POST", path, **more))


def put(path: str, **more: Any) -> Callable[[F], F]:
    return declared(HttpCall("PUT", path, **more))


def patch(path: str, **more: Any) -> Callable[[F], F]:
    return declared(HttpCall("PATCH", path, **more))


def delete(path: str, **more: Any) -> Callable[[F], F]:
    return declared(HttpCall("DELETE", path, **more))
