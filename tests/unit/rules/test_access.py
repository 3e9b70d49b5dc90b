"""One function decides who may do what; when it cannot decide, nobody may."""

import pytest

from moot.errors import NotFound, NotPermitted, Unauthenticated
from moot.model.ids import ParticipantId
from moot.rules import access
from moot.rules.access import (
    HUB_TARGET,
    NOBODY,
    Action,
    ConversationTarget,
    MembershipTarget,
    PersonTarget,
    Principal,
    Standing,
    authorize,
    may,
)

ROOM = ConversationTarget("room", frozenset({"karl", "arya"}))
ALL = frozenset({"read", "post", "spawn", "admin"})
OWNER = Principal(Standing.OWNER, ParticipantId("user"), "user", human=True, scopes=ALL)
KARL = Principal(Standing.PARTICIPANT, ParticipantId("karl"), "karl", human=True, scopes=ALL)
ARYA = Principal(Standing.PARTICIPANT, ParticipantId("arya"), "arya", scopes=ALL)
BOB = Principal(Standing.PARTICIPANT, ParticipantId("bob"), "bob", scopes=ALL)

CELLS = [
    (Action.LOOK, HUB_TARGET, "owner karl arya bob"),
    (Action.READ, ROOM, "owner karl arya"),
    (Action.POST, ROOM, "owner karl arya"),
    (Action.POST, PersonTarget("arya"), "owner karl arya bob"),
    (Action.CREATE, HUB_TARGET, "owner karl"),
    (Action.MANAGE, ROOM, "owner karl"),
    (Action.MANAGE, MembershipTarget(ROOM, "arya"), "owner karl arya"),
    (Action.MANAGE, MembershipTarget(ROOM, "karl"), "owner karl"),
    (Action.SEE_OWN, PersonTarget("arya"), "owner arya"),
    (Action.CHANGE_OWN, PersonTarget("arya"), "owner arya"),
    (Action.SPAWN, HUB_TARGET, "owner karl arya bob"),
    (Action.RULE, HUB_TARGET, "owner"),
    (Action.RULE, ROOM, "owner"),
    (Action.RULE, PersonTarget("arya"), "owner"),
]


@pytest.mark.req("P-06")
@pytest.mark.parametrize(("action", "thing", "allowed"), CELLS)
def test_who_may(action: Action, thing: access.Target, allowed: str) -> None:
    people = {"owner": OWNER, "karl": KARL, "arya": ARYA, "bob": BOB, "nobody": NOBODY}
    assert " ".join(name for name, who in people.items() if may(who, action, thing)) == allowed


def test_every_action_has_a_rule_and_a_scope() -> None:
    assert set(access.RULES) == set(access.SCOPES) == set(Action)
    assert {action for action, _, _ in CELLS} == set(Action)


def test_refusals_say_which_kind_they_are() -> None:
    with pytest.raises(Unauthenticated):
        authorize(NOBODY, Action.LOOK, HUB_TARGET)
    with pytest.raises(NotFound) as hidden:
        authorize(BOB, Action.READ, ROOM)
    assert (hidden.value.suggestions, "available" in hidden.value.facts) == ((), False)
    with pytest.raises(NotPermitted):
        authorize(ARYA, Action.MANAGE, ROOM)


@pytest.mark.parametrize("action", list(Action))
def test_a_token_without_the_scope_opens_nothing(action: Action) -> None:
    poor = Principal(Standing.PARTICIPANT, ParticipantId("karl"), "karl", human=True, scopes=frozenset())
    for thing in (ROOM, HUB_TARGET, PersonTarget("karl")):
        assert not may(poor, action, thing)


@pytest.mark.req("P-06")
@pytest.mark.parametrize("action", list(Action))
def test_an_error_while_deciding_is_a_refusal(action: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(who: Principal, thing: access.Target) -> bool:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(access, "RULES", dict.fromkeys(Action, broken))
    for who in (KARL, ARYA, BOB, NOBODY):
        assert not may(who, action, ROOM)
