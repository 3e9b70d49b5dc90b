"""Who may speak to whom: the rule against a second opinion, the graph, and what refusals say."""

import random
from itertools import combinations, pairwise

import pytest
from msgspec import structs

from moot.model.ids import ParticipantId
from moot.model.records.link import Direction, Link, LinkId, LinkOrigin, Policy, Relationship
from moot.rules.graph import Graph
from moot.rules.links import Bar, sentence, verdict
from tests.support.link_policy import PlainLink, allowed

A, B, C, D = (ParticipantId(name) for name in "abcd")
SEED = 15
GRAPHS = 100_000


def link(source: str, target: str, **fields: object) -> Link:
    return Link(LinkId(f"{source}{target}"), ParticipantId(source), ParticipantId(target), **fields)  # type: ignore[arg-type]


def one_way(source: str, target: str) -> Link:
    return link(source, target, direction=Direction.ONE_WAY)


def above(source: str, target: str) -> Link:
    return link(source, target, relationship=Relationship.SUPERIOR)


def random_links(chance: random.Random, names: str) -> list[PlainLink]:
    pairs = [pair for pair in combinations(names, 2) if chance.random() < 0.3]
    return [
        PlainLink(
            *(pair if chance.random() < 0.5 else pair[::-1]),
            one_way=chance.random() < 0.4,
            on=chance.random() < 0.8,
            by_spawn=chance.random() < 0.15,
        )
        for pair in pairs
    ]


def as_graph(plain: list[PlainLink]) -> Graph:
    return Graph(
        link(
            each.source,
            each.target,
            direction=Direction.ONE_WAY if each.one_way else Direction.TWO_WAY,
            wanted=each.on,
            origin=LinkOrigin.SPAWN if each.by_spawn else LinkOrigin.API,
        )
        for each in plain
    )


@pytest.mark.req("S-05", "S-03")
def test_the_rule_and_a_second_opinion_never_differ() -> None:
    chance = random.Random(SEED)
    for _ in range(GRAPHS):
        plain = random_links(chance, "abcde"[: chance.randint(2, 5)])
        policy = chance.choice(list(Policy))
        sender, receiver = chance.sample("abcde", 2)
        answers = chance.random() < 0.3
        found = verdict(
            as_graph(plain), policy, ParticipantId(sender), ParticipantId(receiver), answers=answers
        )
        expected = allowed(plain, policy.value, sender, receiver, answers=answers)
        assert (found.bar is None) is expected, (plain, policy, sender, receiver, answers)


@pytest.mark.parametrize(
    ("links", "policy", "pair", "bar"),
    [
        ([], Policy.AUTO, "ab", None),
        ([], Policy.LINKS, "ab", Bar.NO_LINK),
        ([link("a", "b")], Policy.AUTO, "ac", Bar.SENDER_BOUND),
        ([link("a", "b")], Policy.AUTO, "ca", Bar.RECEIVER_BOUND),
        ([link("a", "b")], Policy.AUTO, "cd", None),
        ([link("a", "b", wanted=False)], Policy.AUTO, "ab", Bar.OFF),
        ([link("a", "b", switched_off=True)], Policy.LINKS, "ba", Bar.OFF),
        ([one_way("a", "b")], Policy.AUTO, "ba", Bar.ONE_WAY),
        ([one_way("a", "b")], Policy.OPEN, "ba", None),
        ([link("a", "b", wanted=False)], Policy.AUTO, "ac", Bar.SENDER_BOUND),
    ],
)
@pytest.mark.req("S-03", "S-05")
def test_each_bar_is_named(links: list[Link], policy: Policy, pair: str, bar: Bar | None) -> None:
    sender, receiver = map(ParticipantId, pair)
    assert verdict(Graph(links), policy, sender, receiver).bar is bar


@pytest.mark.req("S-01")
@pytest.mark.parametrize(
    ("links", "closing", "ring"),
    [
        ([], above("a", "b"), ""),
        ([above("a", "b"), above("b", "c")], above("c", "a"), "aba"),
        ([above("a", "b")], link("a", "c", relationship=Relationship.SUBORDINATE), ""),
        ([above("a", "b"), above("a", "c"), above("b", "d")], above("c", "d"), ""),
        ([above("a", "b"), link("b", "c")], above("c", "a"), ""),
    ],
)
def test_a_ring_of_superiors_is_found_and_named(links: list[Link], closing: Link, ring: str) -> None:
    found = Graph(links).ring_with(closing)
    assert bool(found) is bool(ring)
    if ring:
        assert found[0] == found[-1]
        assert set(found) == {A, B, C}
        graph = Graph(links).with_link(closing)
        assert all(graph.is_superior(top, below) for top, below in pairwise(found))


def test_a_longer_way_down_is_no_ring() -> None:
    names = [f"n{n}" for n in range(300)]
    chain = Graph(above(one, other) for one, other in pairwise(names))
    assert chain.ring_with(above("n0", "n299")) == []
    assert len(chain.ring_with(above("n299", "n0"))) == 301


def test_who_stands_where_is_seen_from_each_end() -> None:
    graph = Graph([above("a", "b"), link("b", "c"), link("c", "a", relationship=Relationship.SUBORDINATE)])
    assert graph.related(B, Relationship.SUPERIOR) == [A]
    assert graph.related(A, Relationship.SUBORDINATE) == [B, C]
    assert graph.related(B, Relationship.PEER) == [C]
    assert graph.is_superior(A, B)
    assert not graph.is_superior(B, A)


@pytest.mark.req("S-06")
def test_a_link_reads_the_same_from_both_ends() -> None:
    """The property that the seed's own template got wrong: what one is of the other, the other is the reverse of."""
    for relationship in Relationship:
        one = link("a", "b", relationship=relationship)
        other = link("b", "a", relationship=relationship.seen_from_there)
        assert one.seen_by(B) is relationship
        assert (one.seen_by(A), one.seen_by(B)) == (other.seen_by(A), other.seen_by(B))
        assert one.superior == other.superior


@pytest.mark.parametrize(
    ("one", "words"),
    [
        (above("manager", "support"), "manager is superior of support. Both may start."),
        (
            link("a", "b", relationship=Relationship.SUBORDINATE, direction=Direction.ONE_WAY),
            "b is superior of a. Only a may start.",
        ),
        (link("a", "b"), "a and b are peers. Both may start."),
        (link("a", "b", switched_off=True), "a and b are peers. The link is off."),
    ],
)
def test_a_link_is_always_said_as_a_sentence(one: Link, words: str) -> None:
    assert sentence(one, str) == words


def test_a_graph_that_grew_and_shrank_is_the_graph_of_what_is_left() -> None:
    chance = random.Random(SEED)
    kept: dict[str, Link] = {}
    graph = Graph()
    for _ in range(500):
        source, target = chance.sample("abcdefgh", 2)
        if found := graph.between(ParticipantId(source), ParticipantId(target)):
            if chance.random() < 0.5:
                del kept[found.id]
                graph = graph.without(found.id)
                continue
            changed = link(*found.ends, relationship=chance.choice(list(Relationship)))
            kept[found.id] = changed
        else:
            changed = kept[f"{source}{target}"] = link(source, target)
        graph = graph.with_link(changed)
    fresh = Graph(kept.values())
    assert graph.all() == fresh.all()
    for one in map(ParticipantId, "abcdefgh"):
        assert sorted(graph.of(one), key=lambda each: each.id) == sorted(
            fresh.of(one), key=lambda each: each.id
        )
        for other in map(ParticipantId, "abcdefgh"):
            assert graph.between(one, other) == fresh.between(one, other)
    moved = structs.replace(graph.all()[0], source=ParticipantId("x"))
    assert graph.with_link(moved).of(ParticipantId("x")) == [moved]
    assert graph.with_link(moved).between(*graph.all()[0].ends) is None
