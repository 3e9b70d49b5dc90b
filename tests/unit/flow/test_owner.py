"""Who counts as the owner of a home: the person that moot.toml names, and nobody who only was called so once."""

import pytest

from moot.flow.steps.find import is_owner
from moot.model.ids import ConversationId, ParticipantId, TurnId
from moot.model.limits import Terms
from moot.model.moment import Moment
from moot.model.participant import Kind, Participant


@pytest.mark.parametrize(
    ("kind", "name", "owns"),
    [
        (Kind.HUMAN, "sam", True),
        (Kind.HUMAN, "samwell", True),
        (Kind.HUMAN, "gilly", False),
        (Kind.AGENT, "samwell", False),
        (Kind.EXTERNAL, "samwell", False),
    ],
)
def test_it_is_a_person_under_any_of_its_names(kind: Kind, name: str, owns: bool) -> None:
    aliases = ("sam",) if name == "samwell" else ()
    who = Participant(id=ParticipantId(name), name=name, kind=kind, aliases=aliases)
    at = Moment(0.0, Terms(user="sam"), lambda: TurnId(1), lambda: ConversationId("c"))
    assert is_owner(who, at) is owns
