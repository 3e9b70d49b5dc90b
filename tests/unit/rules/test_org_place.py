"""Where an agent stands, and which tools that makes useful to it."""

import pytest

from moot.model.ids import ParticipantId
from moot.model.prompt import Need
from moot.model.records.link import Direction, Link, LinkId, Policy, Relationship
from moot.rules.graph import NO_LINKS, Graph
from moot.rules.org_place import OrgPlace

A, B, C = (ParticipantId(name) for name in "abc")
BELOW = Link(LinkId("l1"), A, B, Direction.ONE_WAY, Relationship.SUPERIOR)
OFF = Link(LinkId("l2"), A, C, wanted=False)
WRITE, DELEGATE, UPDATE = Need.SOMEBODY_TO_WRITE_TO, Need.SOMEBODY_BELOW, Need.UNFINISHED_TASK


@pytest.mark.req("S-09")
@pytest.mark.parametrize(
    ("who", "links", "policy", "useful"),
    [
        (A, (), Policy.AUTO, {WRITE}),
        (A, (), Policy.LINKS, set()),
        (A, (BELOW,), Policy.LINKS, {WRITE, DELEGATE}),
        (B, (BELOW,), Policy.AUTO, set()),
        (B, (BELOW,), Policy.OPEN, {WRITE}),
        (C, (BELOW,), Policy.AUTO, {WRITE}),
        (C, (BELOW, OFF), Policy.AUTO, set()),
    ],
)
def test_links_and_policy_say_what_is_useful(
    who: ParticipantId, links: tuple[Link, ...], policy: Policy, useful: set[Need]
) -> None:
    place = OrgPlace(who, Graph(links) if links else NO_LINKS, policy)
    assert {need for need in Need if place.meets(need)} == {Need.NOTHING, *useful}


def test_a_task_makes_reporting_useful_and_a_person_may_all() -> None:
    assert OrgPlace(A, NO_LINKS, Policy.LINKS, has_task=True).meets(UPDATE)
    person = OrgPlace(A, NO_LINKS, Policy.LINKS, is_person=True)
    assert all(person.meets(need) for need in Need)
    assert person.may_write_to(B)


def test_each_end_sees_the_other_for_what_it_is_to_it() -> None:
    graph = Graph((BELOW, OFF))
    above, below = OrgPlace(A, graph, Policy.AUTO), OrgPlace(B, graph, Policy.AUTO)
    assert (above.relationship(B), below.relationship(A)) == (Relationship.SUBORDINATE, Relationship.SUPERIOR)
    assert (above.may_write_to(B), below.may_write_to(A)) == (True, False)
    assert above.relationship(C) is None
