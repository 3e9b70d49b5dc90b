"""Who may write to whom, on every way in: a thousand random graphs and sends each, against the second opinion.

Each time one pair of the graph changes and one message is tried. Afterwards exactly what was allowed is stored, and
there is no conversation that only a refused message would have wanted.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from moot import Hub
from moot.cli.run.doors import open_doors
from moot.errors import NotPermitted, TimedOut
from moot.settings import Home
from tests.contract.hub.talkers import talker
from tests.support.random_links import NAMES, ChangingLinks

SEED = 15
GRAPHS = 1000
POLICIES = ("auto", "links", "open")
NO_BRAKES = """
[hub]
port = 0
policy = "{policy}"
[limits]
chain_turns = 1000000
chain_depth = 1000000
chain_messages = 1000000
pair_backoff_seconds = 0.0
pair_per_minute = 1000000
agent_turns_per_hour = 1000000
agent_roots_per_hour = 1000000
requests_per_second = 100000.0
[groups]
agents_may_invite = true
"""
Tries = Callable[[str, str, str], Awaitable[bool]]
"""Whether a text from one to another got through."""


def by_hub(hubs: dict[str, Any]) -> Tries:
    async def tries(sender: str, receiver: str, text: str) -> bool:
        try:
            await hubs[sender].send(receiver, text)
        except NotPermitted as refused:
            return bool(refused.facts["rule"] != "link")
        return True

    return tries


def by_question(hubs: dict[str, Any]) -> Tries:
    async def tries(sender: str, receiver: str, text: str) -> bool:
        try:
            await hubs[sender].ask(receiver, text, timeout=0.001)
        except TimedOut:
            return True
        except NotPermitted:
            return False
        raise AssertionError("nobody is there to answer")

    return tries


def by_invitation(hubs: dict[str, Any], owner: Hub) -> Tries:
    async def tries(sender: str, receiver: str, text: str) -> bool:
        room = f"room-{sender}"
        await hubs[sender].post(room, f"@{receiver} {text}")
        came = receiver in [seat.name for seat in (await owner.conversations.get(room)).participants]
        if came:
            await owner.conversations.leave(room, receiver)
        return came

    return tries


@asynccontextmanager
async def opened(home: Path, policy: str) -> AsyncIterator[Hub]:
    (home / "moot.toml").write_text(NO_BRAKES.format(policy=policy), encoding="utf-8")
    async with Hub.open(home, socket=Home(home).hub_sock) as hub:
        for name in NAMES:
            await hub.agents.create(name, external=True)
        yield hub


@asynccontextmanager
async def way_in(way: str, hub: Hub, home: Path) -> AsyncIterator[Tries]:
    inside = {name: hub.acting_as(name) for name in NAMES}
    if way == "send":
        yield by_hub(inside)
    elif way == "ask":
        yield by_question(inside)
    elif way == "invitation":
        for name in NAMES:
            await hub.conversations.create(f"room-{name}", participants=[name])
        yield by_invitation(inside, hub)
    else:
        facts = {"instance": "i1", "started_at": None}
        async with AsyncExitStack() as stack:
            at = await stack.enter_async_context(open_doors(hub, Home(home), facts))
            came = {
                name: await stack.enter_async_context(talker(way, hub, at.url, Home(home), name))
                for name in NAMES
            }

            async def tries(sender: str, receiver: str, text: str) -> bool:
                return bool(await came[sender].send(receiver, text))

            yield tries


async def stored(hub: Hub) -> set[str]:
    every = [each for gone in (False, True) for each in await hub.conversations.list(archived=gone)]
    texts: set[str] = set()
    for each in every:
        said = await hub.messages(each.id, limit=1000)
        assert said or each.kind != "direct", "a conversation in which nothing was ever said"
        texts.update(message.text for message in said)
    return texts


@pytest.mark.req("S-04", "S-05")
@pytest.mark.timeout(120)
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize("way", ["send", "ask", "invitation", "socket", "http", "mcp"])
async def test_no_way_in_differs_from_the_second_opinion(way: str, policy: str, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    got_through: set[str] = set()
    async with opened(tmp_path, policy) as hub, way_in(way, hub, tmp_path) as tries:
        graph = ChangingLinks(hub, policy, chance)
        for number in range(GRAPHS // len(POLICIES) + 1):
            await graph.change()
            sender, receiver = graph.two()
            expected = graph.allow(sender, receiver)
            assert await tries(sender, receiver, f"try {number}") is expected, (number, sender, receiver)
            if expected:
                got_through.add(f"try {number}")
        if way != "invitation":
            assert await stored(hub) == got_through
            assert policy == "open" or len(got_through) < number


@pytest.mark.req("S-05")
@pytest.mark.parametrize("policy", POLICIES)
async def test_a_broadcast_does_not_differ_from_the_second_opinion(policy: str, tmp_path: Path) -> None:
    chance = random.Random(SEED)
    async with opened(tmp_path, policy) as hub:
        graph = ChangingLinks(hub, policy, chance)
        for number in range(GRAPHS // len(POLICIES) + 1):
            await graph.change()
            sender = chance.choice(NAMES)
            sent = await hub.acting_as(sender).broadcast(f"try {number}")
            others = [name for name in NAMES if name != sender]
            assert sent["delivered_to"] == [name for name in others if graph.allow(sender, name)]


@pytest.mark.req("S-05")
@pytest.mark.parametrize("policy", POLICIES)
async def test_the_graph_is_asked_again_when_a_turn_begins(policy: str, tmp_path: Path) -> None:
    """A message is sent, then links change, and only then its receiver takes its turn."""
    chance = random.Random(SEED)
    begun = cut = 0
    async with opened(tmp_path, policy) as hub:
        graph = ChangingLinks(hub, policy, chance)
        for number in range(GRAPHS // len(POLICIES) + 1):
            await graph.change()
            sender, receiver = graph.two()
            if not graph.allow(sender, receiver):
                continue
            sent = await hub.acting_as(sender).send(receiver, f"try {number}")
            if sent.deliveries[0].duty == "blocked":  # by a brake: nothing waits
                continue
            was_cut = await changes(graph, chance, sender, receiver)
            expected = graph.allow(sender, receiver, answers=True) and not was_cut
            mailbox = hub.acting_as(receiver).mailbox
            handed = [message.id for message in (await mailbox.check(handed=())).messages]
            assert (sent.id in handed) is expected, (number, sender, receiver)
            begun, cut = begun + expected, cut + (not expected)
            if expected:
                await mailbox.reply(sent.id, "[PASS]")
    assert begun > 20
    assert cut > 10


async def changes(graph: ChangingLinks, chance: random.Random, sender: str, receiver: str) -> bool:
    """Change a pair, this one half the time; whether its link went or was turned off: that ends what waits there."""
    pair = (min(sender, receiver), max(sender, receiver))
    before = graph.links.get(pair)
    await graph.change(pair if chance.random() < 0.5 else None)
    after = graph.links.get(pair)
    return before is not None and (after is None or (before.enabled and not after.enabled))
