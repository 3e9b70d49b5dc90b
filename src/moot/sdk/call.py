"""A method of the SDK, declared once: transports and documentation read everything they need from the declaration.

    class AgentCalls(Subject, subject="agents"):
        @http.get("/api/agents/{name}")
        async def get(self, name: str) -> shapes.Agent:
            ...

The declaring class has the signature, the type of the answer and the docstring; the decorator says by which request it
is called over HTTP, or why it is not. `Hub` and its subjects subclass it and carry the methods out. A client subclasses
it too and says in `_call` alone how a call travels. The bodies of declarations are never run.

Read off the signature: what takes a `timeout` waits for something to happen; what takes an `idempotency_key` is given
one where the caller has none, so that a call that is repeated stores nothing twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, wraps
from inspect import Parameter, Signature, signature
from typing import Any, ClassVar, TypeVar, cast, get_args, get_origin, get_type_hints

from moot.errors import BadValue
from moot.sdk.request import HttpCall, Named

F = TypeVar("F", bound=Callable[..., Any])


class DeclaredCall:
    """One method that can be called from outside the hub's process."""

    def __init__(self, function: Callable[..., Any], http: HttpCall | None, not_over_http: str = "") -> None:
        self.name = function.__name__
        """As the socket knows it, its subject in front: `agents.get`."""
        self.function = function
        self.http = http
        self.not_over_http = not_over_http
        """Why there is no request for it."""
        code = function.__code__
        parameters = code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]
        self.waits = "timeout" in parameters
        self.keyed = "idempotency_key" in parameters

    def over_http(self) -> HttpCall:
        if self.http is None:
            raise BadValue(f"{self.name} cannot be called over HTTP: {self.not_over_http}")
        return self.http

    @cached_property
    def signature(self) -> Signature:
        """As the caller sees it, with types instead of their names."""
        hints = get_type_hints(self.function)
        _, *parameters = signature(self.function).parameters.values()
        typed = [one.replace(annotation=hints[one.name]) for one in parameters]
        return Signature(typed, return_annotation=hints["return"])

    @cached_property
    def answer(self) -> Any:
        """The type of the answer; `object` where there is none to read."""
        kind = self.signature.return_annotation
        return object if kind is type(None) else kind

    @cached_property
    def _lists(self) -> tuple[str, ...]:
        """Arguments that are any sequence, and are sent as lists."""
        parameters = self.signature.parameters.values()
        return tuple(one.name for one in parameters if _is_sequence(one.annotation))

    @cached_property
    def _order(self) -> tuple[str, ...]:
        """Arguments that may be positional."""
        parameters = self.signature.parameters.values()
        return tuple(one.name for one in parameters if one.kind is Parameter.POSITIONAL_OR_KEYWORD)

    @cached_property
    def _defaults(self) -> Named:
        parameters = self.signature.parameters.values()
        return {one.name: one.default for one in parameters if one.default is not Parameter.empty}

    def named(self, args: tuple[Any, ...], keywords: Named) -> Named:
        """All arguments by name, with their defaults, ready to be sent; raises `TypeError` if they do not fit."""
        in_order = dict(zip(self._order, args, strict=False))
        arguments = {**self._defaults, **in_order, **keywords}
        if (
            arguments.keys() != self.signature.parameters.keys()
            or len(args) > len(in_order)
            or not in_order.keys().isdisjoint(keywords)
        ):
            arguments = self._bind_slowly(args, keywords)
        for name in self._lists:
            if arguments[name] is not None:
                arguments[name] = list(arguments[name])
        return arguments

    def _bind_slowly(self, args: tuple[Any, ...], keywords: Named) -> Named:
        """The same by Python's own rules, which are slower: for arguments that do not fit, and for any keywords."""
        bound = self.signature.bind(*args, **keywords)
        bound.apply_defaults()
        for name, parameter in self.signature.parameters.items():
            if parameter.kind is Parameter.VAR_KEYWORD:
                bound.arguments.update(bound.arguments.pop(name))
        return bound.arguments


def _is_sequence(annotation: Any) -> bool:
    """`Sequence[str]`, or that or None."""
    return any(get_origin(kind) is Sequence for kind in (annotation, *get_args(annotation)))


class Subject:
    """The declared methods of one subject. A subclass implements them, or sends them over a transport."""

    subject: ClassVar[str] = ""
    """Where the methods are found: `hub.agents` for "agents", the hub itself for none."""
    calls: ClassVar[dict[str, DeclaredCall]] = {}
    """By name, in the order in which they are declared."""

    def __init_subclass__(cls, subject: str | None = None, **more: Any) -> None:
        super().__init_subclass__(**more)
        if subject is None:
            return
        cls.subject = subject
        own = [value.call for value in vars(cls).values() if hasattr(value, "call")]
        for call in own:
            call.name = f"{subject}.{call.name}" if subject else call.name
        cls.calls = {call.name: call for call in own}

    async def _call(self, call: DeclaredCall, arguments: Named) -> Any:
        raise NotImplementedError(call.name)


def declared(http: HttpCall | None, not_over_http: str = "") -> Callable[[F], F]:
    def declare(function: F) -> F:
        call = DeclaredCall(function, http, not_over_http)

        @wraps(function)
        async def method(self: Subject, *args: Any, **keywords: Any) -> Any:
            return await self._call(call, call.named(args, keywords))

        vars(method)["call"] = call
        return cast(F, method)

    return declare


def not_over_http(reason: str) -> Callable[[F], F]:
    """A call that only the socket takes."""
    return declared(None, reason)


def no_call(how: str) -> Callable[[F], F]:
    """A method that both sides have without a call of its own: how it is done from elsewhere."""

    def declare(function: F) -> F:
        vars(function)["no_call"] = how
        return function

    return declare


def in_process(reason: str) -> Callable[[F], F]:
    """A method that only the process has in which the hub is open, and why."""

    def declare(function: F) -> F:
        vars(getattr(function, "__func__", function))["in_process"] = reason
        return function

    return declare
