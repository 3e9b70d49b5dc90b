"""What is read off a declaration, and how arguments are made ready to travel."""

from collections.abc import Sequence
from typing import Any

import pytest

from moot.errors import BadValue
from moot.sdk import http
from moot.sdk.call import DeclaredCall, Subject, in_process, not_over_http
from moot.sdk.request import HttpCall, renamed, with_fields


class BoatCalls(Subject, subject="boats"):
    @http.post("/api/boats/{name}", repeats="exist_ok", shaped=renamed(crew="hands"))
    async def launch(
        self,
        name: str,
        crew: Sequence[str] = (),
        *,
        exist_ok: bool = False,
        idempotency_key: str | None = None,
        heading: Sequence[str] | None = None,
    ) -> list[str]:
        """Into the water."""
        raise AssertionError("a declaration is never run")

    @not_over_http("a boat is where it is")
    async def trim(self, name: str, **sails: Any) -> None:
        """Set its sails."""

    @http.get("/api/boats/{name}/arrival", part="boat")
    async def await_arrival(self, name: str, *, timeout: float = 1.0) -> dict[str, Any]:  # noqa: ASYNC109
        """Wait for it."""
        raise AssertionError("a declaration is never run")


class Boats(BoatCalls):
    """Says what it was asked."""

    async def _call(self, call: DeclaredCall, named: dict[str, Any]) -> Any:
        return call.name, named


LAUNCH, TRIM, ARRIVAL = BoatCalls.calls.values()


def test_calls_are_known_by_their_subject_and_in_order() -> None:
    assert list(BoatCalls.calls) == ["boats.launch", "boats.trim", "boats.await_arrival"]
    assert Subject.calls == {}


def test_what_the_signature_says_is_not_said_again() -> None:
    assert [call.waits for call in (LAUNCH, TRIM, ARRIVAL)] == [False, False, True]
    assert [call.keyed for call in (LAUNCH, TRIM, ARRIVAL)] == [True, False, False]
    assert [call.answer for call in (LAUNCH, TRIM, ARRIVAL)] == [list[str], object, dict[str, Any]]


async def test_a_call_carries_every_argument_by_name_with_its_default() -> None:
    asked: Any = await Boats().launch("dora", crew=("ann",), heading=("n", "e"))
    rest = {"exist_ok": False, "idempotency_key": None}
    assert asked == ("boats.launch", {"name": "dora", "crew": ["ann"], "heading": ["n", "e"], **rest})
    other: Any = await Boats().launch(name="dora")
    assert other == ("boats.launch", {"name": "dora", "crew": [], "heading": None, **rest})


async def test_arguments_without_a_name_of_their_own_travel_beside_the_others() -> None:
    asked: Any = await Boats().trim("dora", jib=1)  # type: ignore[func-returns-value]
    assert asked == ("boats.trim", {"name": "dora", "jib": 1})


@pytest.mark.parametrize(
    ("args", "given"),
    [
        ((), {}),
        ((), {"nme": "dora"}),
        (("dora", (), True), {}),
        (("dora",), {"name": "dora"}),
        (("dora",), {"speed": 1}),
    ],
)
async def test_arguments_that_do_not_fit_are_refused_as_python_does(
    args: tuple[Any, ...], given: dict[str, Any]
) -> None:
    with pytest.raises(TypeError):
        await Boats().launch(*args, **given)


async def test_a_declaration_that_nobody_carries_out_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"boats\.launch"):
        await BoatCalls().launch("dora")


# --- requests ----------------------------------------------------------------------------------------------


def test_arguments_go_into_the_path_the_headers_and_the_body() -> None:
    named = LAUNCH.named(("the dora", ["ann"]), {"idempotency_key": "k"})
    request = LAUNCH.over_http().request(named, "me")
    assert (request.verb, request.path) == ("POST", "/api/boats/the%20dora")
    assert request.headers == {"Idempotency-Key": "k"}
    assert (request.query, request.body) == ({}, {"hands": ["ann"], "exist_ok": False})


def test_a_request_that_reads_asks_in_its_query_for_the_caller_itself() -> None:
    http_call = HttpCall("GET", "/api/boats/{name}", shaped=with_fields(all=True))
    request = http_call.request({"name": None, "limit": 5}, "me")
    assert (request.path, request.query, request.body) == (
        "/api/boats/me",
        {"limit": "5", "all": "true"},
        None,
    )


@pytest.mark.parametrize(
    ("http_call", "named", "repeatable"),
    [
        (HttpCall("GET", "/"), {}, True),
        (HttpCall("POST", "/"), {"x": "1"}, False),
        (HttpCall("POST", "/"), {"idempotency_key": "k"}, True),
        (HttpCall("POST", "/", repeats=True), {}, True),
        (HttpCall("POST", "/", repeats="key"), {"key": ""}, False),
        (HttpCall("POST", "/", repeats="handed"), {"handed": None}, False),
        (HttpCall("POST", "/", repeats="handed"), {"handed": []}, True),
        (HttpCall("POST", "/", repeats="exist_ok"), {"exist_ok": False}, False),
        (HttpCall("POST", "/", repeats="exist_ok"), {"exist_ok": True}, True),
    ],
)
def test_what_may_be_repeated_when_an_answer_is_lost(
    http_call: HttpCall, named: dict[str, Any], repeatable: bool
) -> None:
    assert http_call.repeatable(named) is repeatable


def test_a_call_that_only_the_socket_takes_says_why() -> None:
    with pytest.raises(BadValue, match="a boat is where it is"):
        TRIM.over_http()


def test_a_method_of_one_process_keeps_its_reason() -> None:
    class Harbour(Boats):
        @in_process("opens a harbour here")
        @classmethod
        def open(cls) -> None: ...

        @in_process("a harbour stays here")
        def close(self) -> None: ...

    assert vars(Harbour.open)["in_process"] == "opens a harbour here"
    assert vars(Harbour.close)["in_process"] == "a harbour stays here"
