"""Who may write to whom, on every way in: a thousand random graphs and sends each, against the second opinion.

Each time one pair of the graph changes and one message is tried. Afterwards exactly what was allowed is stored, and
there is no conversation that only a refused message would have wanted.
"""

import random
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import httpx2
import pytest
from websockets.asyncio.client import connect
from websockets.typing import Subprotocol

from moot import Hub
from moot.cli.run.doors import open_doors
from moot.doors.http.listener import Listening
from moot.errors import Closed, NotPermitted, Stale, TimedOut, TurnFailed
from moot.settings import Home
from tests.contract.hub.talkers import talker
from tests.support.random_links import NAMES, ChangingLinks
from tests.support.waiting import PATIENCE

SEED = 15
GRAPHS = 1000
AGAIN = 50
"""Messages of each way in and policy between which and whose turn links change."""
OK = 200
LONG = "try {}, in words enough for nobody to take it for a mere nod"
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


def by_post(hubs: dict[str, Any]) -> Tries:
    """Into the conversation of the pair, once that is found."""

    async def tries(sender: str, receiver: str, text: str) -> bool:
        try:
            where = await hubs[sender].conversations.implicit([receiver])
            await hubs[sender].post(where.id, text)
        except NotPermitted:
            return False
        return True

    return tries


def by_request(at: Listening, tokens: dict[str, str], client: httpx2.AsyncClient) -> Tries:
    """As seed 004 would: `POST /api/agents/{name}/messages`, with nothing but a token."""

    async def tries(sender: str, receiver: str, text: str) -> bool:
        header = {"Authorization": f"Bearer {tokens[sender]}"}
        path = f"{at.url}/api/agents/{receiver}/messages"
        answer = await client.post(path, json={"message": text}, headers=header)
        assert answer.status_code in (200, 403), answer.text
        assert answer.json()["delivered"] is (answer.status_code == OK)
        return bool(answer.status_code == OK)

    return tries


def by_websocket(at: Listening, tokens: dict[str, str]) -> Tries:
    """A socket to the receiver. What is empty is refused in any case, and after what came before it."""

    async def tries(sender: str, receiver: str, text: str) -> bool:
        offered = [Subprotocol(word) for word in ("moot", f"bearer.{tokens[sender]}")]
        address = f"ws://127.0.0.1:{at.port}/ws/agents/{receiver}"
        async with connect(address, subprotocols=offered, compression=None, proxy=None) as socket:
            await socket.send(text)
            await socket.send(" ")
            while not (frame := str(await socket.recv())).startswith("! error["):
                pass
        assert frame.startswith(("! error[E301]", "! error[E203]")), frame
        return frame.startswith("! error[E203]")

    return tries


@asynccontextmanager
async def way_in(way: str, hub: Hub, home: Path) -> AsyncIterator[Tries]:
    inside = {name: hub.acting_as(name) for name in NAMES}
    if way == "send":
        yield by_hub(inside)
    elif way == "ask":
        yield by_question(inside)
    elif way == "post":
        yield by_post(inside)
    elif way == "invitation":
        for name in NAMES:
            await hub.conversations.create(f"room-{name}", participants=[name])
        yield by_invitation(inside, hub)
    else:
        async with from_outside(way, hub, home) as tries:
            yield tries


@asynccontextmanager
async def from_outside(way: str, hub: Hub, home: Path) -> AsyncIterator[Tries]:
    facts = {"instance": "i1", "started_at": None}
    async with AsyncExitStack() as stack:
        at = await stack.enter_async_context(open_doors(hub, Home(home), facts))
        if way in ("request", "websocket"):
            tokens = {name: (await hub.agents.issue_token(name)).token for name in NAMES}
            client = await stack.enter_async_context(httpx2.AsyncClient(timeout=PATIENCE))
            yield by_request(at, tokens, client) if way == "request" else by_websocket(at, tokens)
            return
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
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "way", ["send", "ask", "post", "invitation", "socket", "http", "request", "websocket", "mcp"]
)
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
        if way not in ("invitation", "post"):
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


def by_group(hubs: dict[str, Any]) -> Tries:
    """In a group of all five where links bind."""

    async def tries(sender: str, receiver: str, text: str) -> bool:
        receipt = await hubs[sender].post("bound", f"@{receiver} {text}")
        part = next(each for each in receipt.deliveries if each.agent == receiver)
        assert part.rule == "link" or part.duty == "must"
        return bool(part.duty == "must")

    return tries


@pytest.mark.req("S-05")
@pytest.mark.parametrize("policy", POLICIES)
@pytest.mark.parametrize(
    "way", ["send", "ask", "post", "group", "socket", "http", "request", "websocket", "mcp"]
)
async def test_the_graph_is_asked_again_when_a_turn_begins(way: str, policy: str, tmp_path: Path) -> None:
    """A message comes in, then links change, its own half the time, and only then its receiver takes its turn: it is
    handed what the graph lets through by then, and what waited on a link that was cut is over for good."""
    chance = random.Random(SEED)
    begun = cut = 0
    async with AsyncExitStack() as stack:
        hub = await stack.enter_async_context(opened(tmp_path, policy))
        if way == "group":
            settings = {"links_bind": True, "max_agent_turns_per_message": 5, "cooldown_seconds": 0.0}
            await hub.conversations.create("bound", participants=list(NAMES), settings=settings)
            tries = by_group({name: hub.acting_as(name) for name in NAMES})
        else:
            tries = await stack.enter_async_context(way_in(way, hub, tmp_path))
        graph = ChangingLinks(hub, policy, chance)
        for number in range(AGAIN):
            if number % 4 == 0:  # with few links most are free, until one binds them
                await graph.clear()
            await graph.change()
            sender, receiver = graph.two()
            text = LONG.format(number)
            if not await tries(sender, receiver, text):
                continue
            was_cut = await changes(graph, policy, chance, sender, receiver) and way != "group"
            expected = graph.allow(sender, receiver, answers=way != "group") and not was_cut
            mailbox = hub.acting_as(receiver).mailbox
            handed = (await mailbox.check(handed=())).messages
            told = [message.id for message in handed if message.text.endswith(text)]
            assert bool(told) is expected, (number, sender, receiver)
            begun, cut = begun + expected, cut + (not expected)
            if told:
                await mailbox.reply(told[0], "[PASS]")
            await let_go(hub, receiver)
    assert begun > 5
    assert cut > 5 or policy == "open"


async def let_go(hub: Hub, receiver: str) -> None:
    """Whatever else it was handed is dealt with, so that the next message has a turn of its own."""
    for turn in await hub.turns(agent=receiver, state="running"):
        await hub.acting_as(receiver).mailbox.end(turn.id)


async def changes(
    graph: ChangingLinks, policy: str, chance: random.Random, sender: str, receiver: str
) -> bool:
    """Change a pair, half the time this one, else often one of the receiver's; whether that ends what waits on its
    link: it went, or was turned off where links bind."""
    pair = (min(sender, receiver), max(sender, receiver))
    before = graph.links.get(pair)
    third = chance.choice([name for name in NAMES if name not in pair])
    other = (min(receiver, third), max(receiver, third))
    await graph.change(chance.choice([pair, pair, other, None]))
    after = graph.links.get(pair)
    if before is None or after is None:
        return before is not None
    return policy != "open" and before.enabled and not after.enabled


@pytest.mark.req("S-03", "S-05")
@pytest.mark.parametrize("policy", POLICIES)
async def test_a_reply_does_not_differ_from_the_second_opinion(policy: str, tmp_path: Path) -> None:
    """Who was handed a message answers it after the links have changed; a one-way link lets an answer through."""
    chance = random.Random(SEED)
    through = refused = 0
    async with opened(tmp_path, policy) as hub:
        graph = ChangingLinks(hub, policy, chance)
        for number in range(GRAPHS // len(POLICIES) + 1):
            await graph.change()
            sender, receiver = graph.two()
            if not graph.allow(sender, receiver):
                continue
            sent = await hub.acting_as(sender).send(receiver, LONG.format(number))
            mailbox = hub.acting_as(receiver).mailbox
            assert sent.id in [message.id for message in (await mailbox.check(handed=())).messages]
            pair = (min(sender, receiver), max(sender, receiver))
            before = graph.links.get(pair)
            await graph.change(pair if chance.random() < 0.5 else None)
            is_gone = before is not None and graph.links.get(pair) is None
            expected = graph.allow(receiver, sender, answers=True) and not is_gone
            try:
                answer = await mailbox.reply(sent.id, LONG.format(f"answer {number}"))
            except (TurnFailed, Stale, Closed):
                answer = None
            assert (answer is not None) is expected, (number, sender, receiver)
            through, refused = through + expected, refused + (not expected)
            await hub.acting_as(sender).mailbox.check(handed=())
            for name in (sender, receiver):
                await let_go(hub, name)
    assert through > 20
    assert refused > 10
