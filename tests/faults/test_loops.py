"""T-LOOP: agents that would talk for ever. Every cascade ends at its cap, and then there is silence.

Each case runs in a real hub: agents are functions, time is a clock that only the test moves. At the end two hours
pass without a word, and the ledger's checker finds no chain and no round over its budget.
"""

from __future__ import annotations

import asyncio
import math
import random
import shutil
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import apsw
import pytest

from moot.brains.code import AgentSpec
from moot.errors import MootError
from moot.flow import finish, post
from moot.hub import Hub
from moot.model.conversation import GroupSettings
from moot.model.ids import ParticipantId
from moot.model.limits import Limits, Terms
from moot.model.message import Message
from moot.model.turn import OPEN, Turn, TurnState
from moot.testing import ManualClock
from tests.support import checker, remains
from tests.support.beneath import store_of
from tests.support.ledger import OK, Op, body_sha
from tests.support.processes import SCALE, kept_on_failure, seed_of_this_run
from tests.support.waiting import PATIENCE
from tests.support.world import World

CHAIN_DEPTH = Limits().chain_depth
CHAIN_TURNS = Limits().chain_turns
ROUND_CAP = GroupSettings().max_agent_turns_per_message
Think = Callable[[Any], Awaitable[str | None]]
LONG_LEASE = "[host]\nlease_seconds = 1000000.0\n"
OVER = tuple(state for state in TurnState if state not in OPEN)
STEPS = 500
WORDS = (
    *("amber", "birch", "cedar", "delta", "ember", "flint", "grove", "haven"),
    *("inlet", "jetty", "knoll", "larch", "maple", "north", "ocean", "pearl"),
)


def varied(number: int) -> str:
    """A sentence unlike its neighbours, so that only the caps can end the talk."""
    return f"point {number}: {WORDS[number % 16]} {WORDS[(number * 7 + 3) % 16]} weigh more than {number * 31} others"


class Team:
    """Agents in a hub, what they said so far, and a way to let them go on until nothing moves."""

    def __init__(self, home: Path, brains: dict[str, Think], settings: str = LONG_LEASE) -> None:
        self.home = home
        self.clock = ManualClock()
        self.specs = [AgentSpec(name, think) for name, think in brains.items()]
        self.ops: list[Op] = []
        self.hub: Hub
        home.mkdir()
        (home / "moot.toml").write_text(settings, encoding="utf-8")

    @asynccontextmanager
    async def awake(self) -> AsyncIterator[Hub]:
        async with Hub.open(self.home, agents=self.specs, clock=self.clock) as hub:
            self.hub = hub
            yield hub

    @property
    def store(self) -> Any:
        return store_of(self.hub)

    async def say(self, conversation: str, text: str) -> str:
        receipt = await self.hub.post(conversation, text, idempotency_key=f"k{len(self.ops)}")
        self.ops.append(
            Op("post", receipt.conversation, "user", OK, f"k{len(self.ops)}", body_sha(text), seq=receipt.seq)
        )
        return receipt.id

    async def tell(self, agent: str, text: str) -> str:
        return await self.say((await self.hub.conversations.implicit([agent])).id, text)

    async def until_quiet(self, most: float = math.inf) -> bool:
        """Let turns run and held ones come due; True when nothing is left to do, False once so many are over."""
        events = aiter(self.hub._core.parts.log.subscribe())
        try:
            for _ in range(STEPS):
                if len(await self.store.turns(states=OVER)) >= most:
                    return False
                turns = await self.store.turns(states=tuple(OPEN))
                if any(turn.state in (TurnState.READY, TurnState.RUNNING) for turn in turns):
                    async with asyncio.timeout(PATIENCE):
                        await anext(events)
                elif held := [turn.due for turn in turns if turn.state is TurnState.HELD]:
                    await self.clock.advance(max(0.0, min(held) - self.clock.now()))
                else:
                    assert turns == [], turns
                    return True
        finally:
            await events.aclose()
        raise AssertionError("they never come to rest")

    async def turns(self) -> list[Turn]:
        return [turn for turn in await self.store.turns() if turn.started_at]

    async def silence(self) -> None:
        """Two hours later nobody has said another word."""
        before = await self.store.last_event(), len(await self.turns())
        for _ in range(24):
            await self.clock.advance(300.0)
        assert await self.until_quiet()
        assert (await self.store.last_event(), len(await self.turns())) == before

    async def assert_sound(self, limits: Limits | None = None) -> remains.Remains:
        left = await remains.gather(self.home, terms=Terms(limits=limits or Limits()))
        assert checker.found(checker.check(self.ops, left)) == {}
        return left


async def run_out(team: Team, start: Callable[[Team], Awaitable[Any]]) -> remains.Remains:
    """Start a cascade, let it end, listen to the silence, and check what is left."""
    with kept_on_failure(f"loop-{team.home.name}", team.home):
        async with team.awake():
            await start(team)
            await team.until_quiet()
            await team.silence()
        return await team.assert_sound()


def said(left: remains.Remains) -> list[Message]:
    return [message for message in left.all_messages() if message.by_agent]


def turns_of_roots(left: remains.Remains) -> Counter[str]:
    return Counter(turn.root for turn in left.turns if turn.started_at)


def notices(left: remains.Remains) -> list[str]:
    return [message.text for message in left.all_messages() if message.metadata.get("notice") == "brake"]


# --- in pairs and rings ---------------------------------------------------------------------------------------


def passing_on(ring: dict[str, str], counter: list[int]) -> dict[str, Think]:
    """Each agent, whenever it is asked, writes to the next one by tool and says nothing where it is."""

    def brain(name: str) -> Think:
        async def think(turn: Any) -> str | None:
            counter[0] += 1
            await turn.hub.send(ring[name], varied(counter[0]))
            return None

        return think

    return {name: brain(name) for name in ring}


def answering(counter: list[int], first: str = "") -> Think:
    """Answers everything at length; `first`, asked by a person, writes to the other one."""

    async def think(turn: Any) -> str | None:
        counter[0] += 1
        if turn.trigger.kind == "human":
            await turn.hub.send(first, varied(counter[0]))
            return None
        return varied(counter[0])

    return think


async def test_an_echo_pair_ends_at_the_depth_of_its_chain(tmp_path: Path) -> None:
    counter = [0]
    brains = {"ann": answering(counter, "ben"), "ben": answering(counter, "ann")}
    left = await run_out(Team(tmp_path / "pair", brains), lambda team: team.tell("ann", "begin"))
    assert list(turns_of_roots(left).values()) == [CHAIN_DEPTH]
    assert max(message.hop for message in said(left)) == CHAIN_DEPTH
    assert len(notices(left)) == 1


async def test_a_triangle_ends_at_the_depth_of_its_chain(tmp_path: Path) -> None:
    team = Team(tmp_path / "triangle", passing_on({"ann": "ben", "ben": "cat", "cat": "ann"}, [0]))
    left = await run_out(team, lambda team: team.tell("ann", "begin"))
    assert list(turns_of_roots(left).values()) == [CHAIN_DEPTH]


async def test_two_that_only_thank_each_other_stop_after_three_exchanges(tmp_path: Path) -> None:
    async def think(turn: Any) -> str | None:
        if turn.trigger.kind == "human":
            await turn.hub.send("ben" if turn.agent == "ann" else "ann", "thanks!")
            return None
        return "you too!" if turn.agent == "ben" else "thanks!"

    team = Team(tmp_path / "thanks", {"ann": think, "ben": think})
    left = await run_out(team, lambda team: team.tell("ann", "say thanks"))
    assert len(said(left)) == 6
    assert "keep acknowledging each other" in notices(left)[0]


async def test_old_text_under_a_fresh_key_buys_no_new_turns(tmp_path: Path) -> None:
    async def think(turn: Any) -> str | None:
        other = "ben" if turn.agent == "ann" else "ann"
        text = "as I said before, and shall say again, this is my considered opinion on the matter"
        await turn.hub.send(other, text, idempotency_key=f"{turn.agent}-{turn.id}")
        return None

    team = Team(tmp_path / "again", {"ann": think, "ben": think})
    left = await run_out(team, lambda team: team.tell("ann", "begin"))
    assert max(turns_of_roots(left).values()) <= CHAIN_DEPTH
    assert len(said(left)) <= CHAIN_DEPTH


async def test_a_new_name_is_no_new_chain(tmp_path: Path) -> None:
    counter = [0]

    async def think(turn: Any) -> str | None:
        counter[0] += 1
        if turn.trigger.kind != "human":
            await turn.hub.agents.rename(turn.agent, f"nova{WORDS[counter[0]]}")
        other = "ben" if turn.hub._me == "ann" else "ann"
        await turn.hub.send(other, varied(counter[0]))
        return None

    team = Team(tmp_path / "renamed", {"ann": think, "ben": think})
    left = await run_out(team, lambda team: team.tell("ann", "begin"))
    assert list(turns_of_roots(left).values()) == [CHAIN_DEPTH]
    assert len({name for who in left.participants.values() for name in (who.name, *who.aliases)}) > 6


# --- in groups ------------------------------------------------------------------------------------------------


async def group(team: Team, name: str, text: str, **settings: Any) -> None:
    members = [spec.name for spec in team.specs]
    await team.hub.conversations.create(name, participants=members, settings=settings)
    await team.say(name, text)


@pytest.mark.parametrize(
    "reply",
    [
        "@ann once more, and again",
        "`@ben` as code",
        "```\n@ben in a block\n```",
        "write to x@ben.com, http://h/@ben",
    ],
    ids=["self", "code", "block", "address"],
)
async def test_what_is_no_mention_calls_nobody(tmp_path: Path, reply: str) -> None:
    async def ann(turn: Any) -> str:
        return reply

    async def ben(turn: Any) -> str:
        raise AssertionError("ben was asked")

    team = Team(tmp_path / "group", {"ann": ann, "ben": ben})
    left = await run_out(team, lambda team: group(team, "room", "@ann well?", reply_strategy="mention_only"))
    assert [message.author for message in said(left)] == ["ann"]


async def test_agents_that_quote_each_other_end_inside_the_round(tmp_path: Path) -> None:
    async def think(turn: Any) -> str:
        other = "ben" if turn.agent == "ann" else "ann"
        return f"> @{turn.trigger.sender} said: {turn.text}\n\nI wonder what @{other} thinks of this in turn {turn.id}"

    team = Team(tmp_path / "quotes", {"ann": think, "ben": think})
    left = await run_out(team, lambda team: group(team, "room", "@ann @ben discuss"))
    assert len(said(left)) <= ROUND_CAP


async def test_seventeen_agents_that_each_mention_two_others_end_inside_the_round(tmp_path: Path) -> None:
    names = [f"agent{WORDS[n]}" for n in range(16)] + ["agentlast"]

    def brain(at: int) -> Think:
        async def think(turn: Any) -> str:
            return f"@{names[(at + 1) % 17]} @{names[(at + 2) % 17]} what about it? I am in turn {turn.id}"

        return think

    team = Team(tmp_path / "storm", {name: brain(n) for n, name in enumerate(names)})
    left = await run_out(team, lambda team: group(team, "room", "everybody, please"))
    assert len(said(left)) == ROUND_CAP
    assert sum(1 for _ in left.all_messages()) < 20


async def test_agents_that_broadcast_whatever_they_hear_end_at_the_turns_of_the_chain(tmp_path: Path) -> None:
    counter = [0]

    async def think(turn: Any) -> None:
        counter[0] += 1
        await turn.hub.broadcast(varied(counter[0]))

    names = [f"agent{word}" for word in WORDS[:6]]
    team = Team(tmp_path / "broadcast", dict.fromkeys(names, think))
    left = await run_out(team, lambda team: team.tell(names[0], "tell everybody"))
    assert list(turns_of_roots(left).values()) == [CHAIN_TURNS]


def bridging(other: dict[str, str]) -> dict[str, Think]:
    """Every turn mentions the other agent in the other group by tool, then passes."""

    async def think(turn: Any) -> None:
        elsewhere = other[turn.conversation.name]
        them = "ben" if turn.agent == "ann" else "ann"
        await turn.hub.post(elsewhere, f"@{them} {varied(int(turn.id))}")

    return {"ann": think, "ben": think}


async def start_bridge(team: Team) -> None:
    for name in ("G", "K"):
        settings = {"cooldown_seconds": 0.0}
        await team.hub.conversations.create(name, participants=["ann", "ben"], settings=settings)
    await team.say("G", "begin")


async def test_two_groups_bridged_by_their_members_end_at_the_turns_of_the_chain(tmp_path: Path) -> None:
    team = Team(tmp_path / "bridge", bridging({"G": "K", "K": "G"}))
    left = await run_out(team, start_bridge)
    assert list(turns_of_roots(left).values()) == [CHAIN_TURNS]
    assert {turn.state for turn in left.turns if turn.started_at} == {TurnState.SAID}


# --- across crashes -------------------------------------------------------------------------------------------


async def crash(team: Team) -> None:
    """What lies on the disk now is what the next hub finds, and the process that wrote it is gone."""
    copy = team.home.with_name(f"{team.home.name}x")
    copy.mkdir()
    for name in ("moot.toml", "moot.db", "moot.db-wal"):
        if (team.home / name).exists():
            shutil.copyfile(team.home / name, copy / name)
    gone = await asyncio.create_subprocess_exec("true")
    await gone.wait()
    connection = apsw.Connection(str(copy / "moot.db"))
    connection.execute("UPDATE hosts SET pid = ?", (gone.pid,))
    connection.close()
    team.home = copy


def let_in(places: asyncio.Semaphore, think: Think) -> Think:
    """Only as many as there are places get to think; whoever comes later is still waiting when the hub dies."""

    async def thinks(turn: Any) -> str | None:
        await places.acquire()
        return await think(turn)

    return thinks


async def run_out_with_crashes(team: Team, start: Callable[[Team], Awaitable[Any]]) -> int:
    """As `run_out`, but the hub dies after every second turn; returns how often."""
    specs = team.specs
    for crashes in range(40):
        two = asyncio.Semaphore(2)
        team.specs = [AgentSpec(spec.name, let_in(two, spec.think)) for spec in specs]
        async with team.awake():
            if crashes == 0:
                await start(team)
            if await team.until_quiet(2 * (crashes + 1)):
                await team.silence()
                return crashes
            await crash(team)
    raise AssertionError("they never come to rest")


@pytest.mark.parametrize("shape", ["pair", "triangle", "bridge"])
async def test_counters_outlive_the_process(tmp_path: Path, shape: str) -> None:
    counter = [0]
    brains: dict[str, dict[str, Think]] = {
        "pair": {"ann": answering(counter, "ben"), "ben": answering(counter, "ann")},
        "triangle": passing_on({"ann": "ben", "ben": "cat", "cat": "ann"}, counter),
        "bridge": bridging({"G": "K", "K": "G"}),
    }
    starts: dict[str, Callable[[Team], Awaitable[Any]]] = {"bridge": start_bridge}
    team = Team(tmp_path / "home", brains[shape])
    with kept_on_failure(f"loop-{shape}-crashes", team.home):
        crashes = await run_out_with_crashes(team, starts.get(shape, lambda team: team.tell("ann", "begin")))
        left = await team.assert_sound()
    assert crashes >= 3
    [turns] = turns_of_roots(left).values()
    if (
        shape == "bridge"
    ):  # two run at once here, and one whose host is lost twice has failed and passes nothing on
        assert turns <= CHAIN_TURNS
    else:
        assert turns == CHAIN_DEPTH


# --- any shape at all -----------------------------------------------------------------------------------------


class Anybody:
    """Random agents in random rooms over the verbs alone: each reply mentions and writes to whomever it likes."""

    def __init__(self, world: World, chance: random.Random) -> None:
        self.world = world
        self.chance = chance
        self.number = 0

    async def begin(self) -> None:
        agents = [f"agent{word}" for word in WORDS[: self.chance.randint(2, 7)]]
        await self.world.open()
        await self.world.enrol(agents, [], [])
        for n in range(self.chance.randint(1, 3)):
            members = self.chance.sample(agents, self.chance.randint(2, len(agents)))
            strategy = self.chance.choice(["hybrid", "mention_only", "round_robin"])
            await self.world.make(f"group{WORDS[n]}", members, "group", {"reply_strategy": strategy})
        for n in range(self.chance.randint(0, 3)):
            await self.world.make(f"pair{WORDS[n]}", self.chance.sample(agents, 2), "direct", {})

    async def start(self) -> None:
        name = self.chance.choice([name for name in self.world.where if name.startswith("group")])
        await self.world.post(name, "user", f"begin {self.mentions()}", key="k0")

    def mentions(self) -> str:
        return " ".join(f"@{name}" for name in self.chance.sample(self.world.agents, 2))

    def text(self) -> str:
        self.number += 1
        return f"{varied(self.number)} {self.mentions()}" if self.chance.random() < 0.8 else "ok"

    async def one_turn(self, turn: Turn) -> None:
        """Claim, post a few times by tool wherever one is a member, then say something or nothing."""
        name = next(name for name, where in self.world.where.items() if where == turn.conversation)
        taken = await self.world.claim(name, turn.agent)
        if taken is None:
            return
        for _ in range(self.chance.randint(0, 2)):
            into = self.chance.choice(list(self.world.where))
            command = post.posting(
                ParticipantId(turn.agent),
                self.world.where[into],
                self.text(),
                turn=taken.id,
                fence=taken.fence,
            )
            try:
                await self.world.do(post, command)
            except MootError:
                continue
        reply = self.text() if self.chance.random() < 0.7 else None
        forged = {"hop": 0, "root": "c1:999", "depth": 0}
        await self.world.do(finish, finish.Finish(taken.id, taken.fence, finish.Said(reply, forged)))

    async def until_quiet(self, restarts: bool) -> int:
        for step in range(STEPS):
            turns = await self.world.store.turns(states=tuple(OPEN))
            ready = [turn for turn in turns if turn.state in (TurnState.READY, TurnState.OWED)]
            if ready:
                await self.one_turn(self.chance.choice(ready))
            elif turns:
                await self.world.wait(5.0)
            else:
                return step
            if restarts and self.chance.random() < 0.2:
                await self.world.restart()
        raise AssertionError("they never come to rest")


@pytest.mark.timeout(300 * SCALE)
@pytest.mark.parametrize("backend", ["memory", "sqlite"])
async def test_whatever_the_shape_every_cascade_ends(tmp_path: Path, backend: str) -> None:
    seed = seed_of_this_run()
    longest = 0
    for n in range((100 if backend == "memory" else 10) * SCALE):
        chance = random.Random(f"{seed}-{n}")
        home = tmp_path / f"{n}"
        with kept_on_failure(f"loop-shape-{backend}", home, seed):
            anybody = Anybody(World(backend, home, GroupSettings(), Limits()), chance)
            await anybody.begin()
            await anybody.start()
            await anybody.until_quiet(restarts=backend == "sqlite")
            roots = Counter(t.root for t in await anybody.world.store.turns() if t.started_at)
            assert max(roots.values(), default=0) <= CHAIN_TURNS + ROUND_CAP * 3, roots
            longest = max(longest, *roots.values(), 0)
            await anybody.world.close()
            if backend == "sqlite":
                where = await remains.gather(home)
                ops = [Op("post", m.conversation, m.author, OK, m.key, body_sha(m.text), seq=m.seq)
                       for m in where.all_messages() if m.key]  # fmt: skip
                assert checker.found(checker.check(ops, where)) == {}
    print(f"longest chain: {longest} turns")
