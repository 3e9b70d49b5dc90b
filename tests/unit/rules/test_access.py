"""One function decides who may do what; when it cannot decide, nobody may."""

import pytest

from moot.errors import NotFound, NotPermitted, Unauthenticated
from moot.model.ids import ParticipantId
from moot.rules import access
from moot.rules.access import HOUSE, NOBODY, Action, Person, Place, Principal, Seat, Standing, authorize, may

ROOM = Place("room", frozenset({"karl", "arya"}))
ALL = frozenset({"read", "post", "spawn", "admin"})
OWNER = Principal(Standing.OWNER, ParticipantId("user"), "user", human=True, scopes=ALL)
KARL = Principal(Standing.PARTICIPANT, ParticipantId("karl"), "karl", human=True, scopes=ALL)
ARYA = Principal(Standing.PARTICIPANT, ParticipantId("arya"), "arya", scopes=ALL)
BOB = Principal(Standing.PARTICIPANT, ParticipantId("bob"), "bob", scopes=ALL)

CELLS = [
    (Action.LOOK, HOUSE, "owner karl arya bob"),
    (Action.READ, ROOM, "owner karl arya"),
    (Action.POST, ROOM, "owner karl arya"),
    (Action.POST, Person("arya"), "owner karl arya bob"),
    (Action.CREATE, HOUSE, "owner karl"),
    (Action.MANAGE, ROOM, "owner karl"),
    (Action.MANAGE, Seat(ROOM, "arya"), "owner karl arya"),
    (Action.MANAGE, Seat(ROOM, "karl"), "owner karl"),
    (Action.SEE_OWN, Person("arya"), "owner arya"),
    (Action.CHANGE_OWN, Person("arya"), "owner arya"),
    (Action.RULE, HOUSE, "owner"),
    (Action.RULE, ROOM, "owner"),
    (Action.RULE, Person("arya"), "owner"),
]


@pytest.mark.req("P-06")
@pytest.mark.parametrize(("action", "thing", "allowed"), CELLS)
def test_who_may(action: Action, thing: access.Thing, allowed: str) -> None:
    people = {"owner": OWNER, "karl": KARL, "arya": ARYA, "bob": BOB, "nobody": NOBODY}
    assert " ".join(name for name, who in people.items() if may(who, action, thing)) == allowed


def test_every_action_has_a_rule_and_a_scope() -> None:
    assert set(access.RULES) == set(access.SCOPES) == set(Action)
    assert {action for action, _, _ in CELLS} == set(Action)


def test_refusals_say_which_kind_they_are() -> None:
    with pytest.raises(Unauthenticated):
        authorize(NOBODY, Action.LOOK, HOUSE)
    with pytest.raises(NotFound) as hidden:
        authorize(BOB, Action.READ, ROOM)
    assert (hidden.value.suggestions, "available" in hidden.value.facts) == ((), False)
    with pytest.raises(NotPermitted):
        authorize(ARYA, Action.MANAGE, ROOM)


@pytest.mark.parametrize("action", list(Action))
def test_a_token_without_the_scope_opens_nothing(action: Action) -> None:
    poor = Principal(Standing.PARTICIPANT, ParticipantId("karl"), "karl", human=True, scopes=frozenset())
    for thing in (ROOM, HOUSE, Person("karl")):
        assert not may(poor, action, thing)


@pytest.mark.req("P-06")
@pytest.mark.parametrize("action", list(Action))
def test_an_error_while_deciding_is_a_refusal(action: Action, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(who: Principal, thing: access.Thing) -> bool:
        raise RuntimeError("on purpose")

    monkeypatch.setattr(access, "RULES", dict.fromkeys(Action, broken))
    for who in (KARL, ARYA, BOB, NOBODY):
        assert not may(who, action, ROOM)
