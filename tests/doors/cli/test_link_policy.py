"""Who may write to whom, typed: twenty sends over links that change, against the second opinion (SPEC S-05)."""

import random
from collections.abc import Callable

import pytest

from tests.doors.cli.shell import Shell, Told
from tests.support.link_policy import PlainLink, allowed

Moot = Callable[..., Told]
NAMES = ("ann", "bea", "cyd")
PAIRS = (("ann", "bea"), ("bea", "cyd"))
SENDS = 20
SEED = 15


@pytest.mark.req("S-05")
@pytest.mark.timeout(120)
def test_no_send_that_is_typed_differs_from_the_second_opinion(moot: Moot, shell: Shell) -> None:
    chance = random.Random(SEED)
    toml = shell.home / "moot.toml"
    toml.write_text(f"{toml.read_text()}\n[limits]\npair_backoff_seconds = 0.0\npair_per_minute = 1000\n")
    for name in NAMES:
        assert moot("agents", "new", name, "--brain", "external").code == 0
    links: dict[tuple[str, str], tuple[str, PlainLink]] = {}
    outcomes: list[bool] = []
    for number in range(SENDS):
        if number % 3 == 0:
            change(moot, chance, links)
        sender, receiver = chance.sample(NAMES, 2)
        expected = allowed([link for _, link in links.values()], "auto", sender, receiver, answers=False)
        sent = moot("send", "--as", sender, receiver, f"try {number}, at some length", "--no-wait", "--json")
        assert (sent.code == 0) is expected, (number, sender, receiver, sent)
        assert expected or "E301" in sent.err
        outcomes.append(expected)
    assert {*outcomes} == {True, False}
    refused = moot("audit", "log", "--act", "refused", "--limit", "100", "--json").json
    assert sum(entry["count"] for entry in refused) == outcomes.count(False), "each is on record"


@pytest.mark.req("S-05")
def test_a_typed_broadcast_reaches_those_it_may_and_leaves_nothing_with_the_others(moot: Moot) -> None:
    """Whether or not its answers are waited for."""
    for name in NAMES:
        assert moot("agents", "new", name, "--brain", "external").code == 0
    assert moot("links", "new", "ann", "bea").code == 0
    for waits in ("--no-wait", "--timeout=0.2"):
        sent = moot("send", "--all", "--as", "ann", f"hello, all of you: {waits}", waits, "--json").json
        assert sent["delivered_to"] == ["bea"]
        assert "cyd" in [refused["agent"] for refused in sent["failed"]]
    assert "cyd" not in str([place["name"] for place in moot("conv", "list", "--json").json])


def change(moot: Moot, chance: random.Random, links: dict[tuple[str, str], tuple[str, PlainLink]]) -> None:
    pair = chance.choice(PAIRS)
    if pair in links:
        id, _ = links.pop(pair)
        assert moot("links", "rm", id, "--yes").code == 0
        return
    one_way = chance.random() < 0.5
    words = ("--one-way",) if one_way else ()
    made = moot("links", "new", *pair, *words, "--json")
    assert made.code == 0, made
    links[pair] = made.json["id"], PlainLink(*pair, one_way, on=True, by_spawn=False)
