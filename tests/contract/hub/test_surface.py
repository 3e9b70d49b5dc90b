"""Every method that sdk/ declares is there in every way a hub is reached, or says why not."""

import inspect
from typing import Any

import pytest

from moot import Hub
from moot.client import RemoteHub
from moot.client.calls import (
    RemoteAgents,
    RemoteAudit,
    RemoteBridges,
    RemoteConversations,
    RemoteDecisions,
    RemoteDeliveries,
    RemoteInspector,
    RemoteLinks,
    RemoteMailbox,
    RemoteNotes,
    RemoteOperator,
    RemoteTasks,
)
from moot.client.connect import STATUS
from moot.client.transport.paging import SETTLED_EVERYWHERE, SEVERAL
from moot.doors.http.api.routes import ROUTES
from moot.errors import BadValue
from moot.hub.agents import Agents
from moot.hub.audit import Audit
from moot.hub.conversations import Conversations
from moot.hub.decisions import Decisions
from moot.hub.deliveries import Deliveries
from moot.hub.external.bridges import Bridges
from moot.hub.inspector import Inspector
from moot.hub.links import Links
from moot.hub.mailbox import Mailbox
from moot.hub.notes import Notes
from moot.hub.operation.operator import HubOperator
from moot.hub.process.rpc import ENCODED
from moot.hub.queries.encoded import Encoded
from moot.hub.tasks import Tasks
from moot.sdk import CALLS, SUBJECTS
from moot.sdk.call import DeclaredCall, Subject
from moot.sdk.hub import HubCalls
from moot.sdk.request import HEADERS, HttpCall

HERE: dict[str, type] = {
    "": Hub,
    "conversations": Conversations,
    "agents": Agents,
    "links": Links,
    "tasks": Tasks,
    "bridges": Bridges,
    "decisions": Decisions,
    "notes": Notes,
    "mailbox": Mailbox,
    "deliveries": Deliveries,
    "inspector": Inspector,
    "audit": Audit,
    "operator": HubOperator,
}
THERE: dict[str, type] = {
    "": RemoteHub,
    "conversations": RemoteConversations,
    "agents": RemoteAgents,
    "links": RemoteLinks,
    "tasks": RemoteTasks,
    "bridges": RemoteBridges,
    "decisions": RemoteDecisions,
    "notes": RemoteNotes,
    "mailbox": RemoteMailbox,
    "deliveries": RemoteDeliveries,
    "inspector": RemoteInspector,
    "audit": RemoteAudit,
    "operator": RemoteOperator,
}
LIFE = {"find", "open", "close", "within"}
"""How a client comes to a hub and leaves it, and the turn that it speaks in."""
ROUTE_OF = {
    (route.method, *[part[:1] == "{" or part for part in route.path.split("/")]): route for route in ROUTES
}


def public(kind: type) -> dict[str, Any]:
    """Methods that a class has of its own or from us, the declarations apart."""
    return {
        name: value
        for base in reversed(kind.__mro__)
        if issubclass(base, Subject) and base not in (Subject, *SUBJECTS)
        for name, value in vars(base).items()
        if not name.startswith("_") and (callable(value) or isinstance(value, classmethod))
    }


def beside(kind: type) -> dict[str, Any]:
    """Methods of a declaration that are no calls."""
    return {
        name: value
        for base in kind.__mro__
        for name, value in vars(base).items()
        if hasattr(value, "no_call")
    }


def taken(method: Any) -> list[tuple[str, Any, Any]]:
    _, *parameters = inspect.signature(method).parameters.values()
    return [(one.name, one.kind, one.default) for one in parameters]


def test_every_subject_of_the_hub_can_be_called_from_elsewhere() -> None:
    found = {name for name, value in vars(HubCalls).items() if isinstance(value, property)}
    assert {kind.subject for kind in SUBJECTS} == {"", *found} == set(HERE) == set(THERE)


@pytest.mark.parametrize("subject", HERE)
def test_the_hub_has_what_is_declared_and_says_of_the_rest_why_it_is_not(subject: str) -> None:
    here, there = public(HERE[subject]), THERE[subject]
    of_both = {name.rpartition(".")[2] for kind in SUBJECTS for name in kind.calls if kind.subject == subject}
    of_both |= set(beside(there))
    assert of_both <= set(here), "the hub does not carry it out"
    reasons = {name: getattr(getattr(HERE[subject], name), "in_process", "") for name in set(here) - of_both}
    assert {name for name, reason in reasons.items() if not reason} == set()
    assert set(public(there)) - of_both <= (LIFE if subject == "" else set())
    for name in of_both & set(public(there)):
        assert taken(public(there)[name]) == taken(getattr(HERE[subject], name))


@pytest.mark.parametrize("name", CALLS)
def test_a_declared_method_takes_the_same_wherever_it_is_called(name: str) -> None:
    subject, _, method = name.rpartition(".")
    declared = taken(CALLS[name].function)
    assert taken(getattr(HERE[subject], method)) == declared
    assert taken(getattr(THERE[subject], method)) == declared
    assert inspect.getdoc(CALLS[name].function), "it says nothing of itself"


def test_what_stands_for_a_call_elsewhere_stands_for_one() -> None:
    assert set(SEVERAL) <= set(CALLS)
    for name in ENCODED:
        assert taken(getattr(Encoded, name)) == taken(CALLS[name].function)


def test_who_waits_and_who_has_a_key_is_read_off_the_signature() -> None:
    assert {name for name, call in CALLS.items() if call.waits} == {"ask", "settled", "mailbox.wait"}
    again = {"deliveries.ask_again", "deliveries.redeliver"}
    keyed = {"post", "send", "ask", "broadcast", "delegate", "spawn", "mailbox.reply", *again}
    assert {name for name, call in CALLS.items() if call.keyed} == keyed


@pytest.mark.parametrize("name", CALLS)
def test_a_call_goes_over_http_to_a_route_that_takes_it_or_says_why_not(name: str) -> None:
    call = CALLS[name]
    if call.http is None:
        assert call.not_over_http
        with pytest.raises(BadValue, match="cannot be called over HTTP"):
            call.over_http()
        return
    leads(call.http, some_arguments(call))


@pytest.mark.parametrize("http", [STATUS, SETTLED_EVERYWHERE])
def test_a_request_that_is_no_method_has_a_route_too(http: HttpCall) -> None:
    leads(http, {})


def some_arguments(call: DeclaredCall) -> dict[str, Any]:
    found = [one for one in call.signature.parameters.values() if one.kind != one.VAR_KEYWORD]
    return {one.name: ("a", "b") if one.name == "channel" else "1" for one in found}


def leads(http: HttpCall, named: dict[str, Any]) -> None:
    route = ROUTE_OF[http.verb, *[part[:1] == "{" or part for part in http.path.split("/")]]
    request = http.request(named, "me")
    assert "{" not in request.path
    assert set(request.headers) == {HEADERS[name] for name in named if name in HEADERS} <= set(route.headers)
    fields = route.body.__struct_encode_fields__ if route.body is not None else ()
    assert set(request.body or {}) <= set(fields)
    assert set(request.query) <= set(route.query.__struct_encode_fields__)
    assert not http.part or http.part in route.answer.__struct_encode_fields__
