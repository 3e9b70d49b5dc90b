"""Agents that are started from templates: only what somebody may start, only so many, briefed at once, and gone when
they are done."""

from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import Braked, Conflict, MootError, NotFound, NotPermitted, StoreUnwritable
from moot.hub.process.spawned_agents import SpawnedAgents
from moot.model.entrance import DoorName
from moot.model.records.spawned import SPAWNED
from moot.testing import ManualClock
from tests.support.beneath import store_of
from tests.support.waiting import until

pytestmark = pytest.mark.req("J-09")
START = 1_800_000_000.0
SETTINGS = """
[[agents]]
name = "manager"
brain = "code:nothing:here"
spawns = ["coder", "lead"]
autostart = false

[[agents]]
name = "clerk"
brain = "demo"

[templates.coder]
role = "writes code"
brain = "demo"
max_minutes = 60
idle_minutes = 10

[templates.lead]
brain = "demo"
spawns = ["*"]

[templates.secret]
brain = "demo"

[spawn]
max_live = 6
max_children = 3
max_depth = 2
per_hour = 8
directories = ["{open}"]
"""


@pytest.fixture
def home(tmp_path: Path) -> Path:
    opened = tmp_path / "open"
    opened.mkdir()
    place = tmp_path / "home"
    place.mkdir(mode=0o700)
    (place / "moot.toml").write_text(SETTINGS.replace("{open}", str(opened)))
    return place


def doing(name: str, act: Any) -> Any:
    """An agent that does one thing whenever a person writes to it."""

    @agent(name)
    async def think(turn: Any) -> str:
        if turn.trigger.kind == "human":
            await act(turn.hub)
            return "done"
        return f"heard: {turn.text}"

    return think


async def outcome(home: Path, act: Any, *, name: str = "manager") -> Any:
    """What an agent gets for something it does in a turn."""
    got: list[Any] = []

    async def tried(hub: Hub) -> None:
        try:
            got.append(await act(hub))
        except MootError as refusal:
            got.append(refusal)

    async with Hub.open(home, agents=[doing(name, tried)]) as hub:
        await hub.send(name, "go")
        await until(lambda: _now(got), bool)
    return got[0]


async def _now(value: Any) -> Any:
    return value


async def test_enrolment_link_task_and_turn_are_one_decision(home: Path) -> None:
    heard: list[str] = []

    @agent("manager")
    async def manager(turn: Any) -> str:
        heard.append(turn.text)
        if turn.trigger.kind == "human":
            made = await turn.hub.spawn("coder", task="write the parser")
            assert made.task is not None
            assert made.turn is not None, "it is briefed the moment it exists"
            return f"started {made.agent}"
        return "thank you"

    async with Hub.open(home, agents=[manager]) as hub:
        before = hub.position
        await hub.send("manager", "we need a parser")
        await until(lambda: _now(heard[1:]), bool)
        [made] = await hub.agents.tree()
        assert (made.agent, made.by, made.template, made.depth) == ("coder", "manager", "coder", 1)
        [link] = await hub.links.list()
        assert (link.sentence, link.origin) == ("manager is superior of coder. Both may start.", "spawn")
        [task] = await hub.tasks.list()
        assert (task.to, task.state) == ("coder", "done")
        assert task.result
        assert task.result in heard[1]
        assert before < hub.position


@pytest.mark.req("S-05")
async def test_the_link_binds_the_child_and_leaves_the_spawner_free(home: Path) -> None:
    async def act(hub: Hub) -> Any:
        await hub.spawn("coder")
        return await hub.send("clerk", "may I still write to you?")

    assert (await outcome(home, act)).deliveries[0].state != "blocked"
    async with Hub.open(home) as hub:
        with pytest.raises(NotPermitted, match="coder"):
            await hub.acting_as("coder").send("clerk", "and I?")


@pytest.mark.parametrize("template", ["secret", "nothing"])
async def test_an_agent_starts_only_from_templates_its_row_names(home: Path, template: str) -> None:
    refusal = await outcome(home, lambda hub: hub.spawn(template))
    if template == "nothing":
        assert isinstance(refusal, NotFound)
        assert "coder" in refusal.detail
    else:
        assert isinstance(refusal, NotPermitted)
        assert refusal.facts["allowed"] == ["coder", "lead"]
        async with Hub.open(home) as hub:
            assert "secret" not in [one.name for one in await hub.agents.list()]
            assert "refused" in (await hub.audit.log(limit=1))[0].act


async def test_who_has_no_row_may_start_nothing_and_people_may_start_everything(home: Path) -> None:
    refusal = await outcome(home, lambda hub: hub.spawn("coder"), name="clerk")
    assert isinstance(refusal, NotPermitted)
    assert "no agents" in refusal.detail
    async with Hub.open(home) as hub:
        made = await hub.spawn("secret", name="zed")
        assert (made.agent, made.link, made.task) == ("zed", None, None)
        with pytest.raises(MootError, match="zed"):
            await hub.spawn("secret", name="zed")


async def test_a_child_may_start_no_more_than_its_spawner(home: Path) -> None:
    """`lead` may start everything; started by the manager, only what the manager may."""
    async with Hub.open(home) as hub:
        by_manager = await hub.acting_as("manager").spawn("lead")
        child = hub.acting_as(by_manager.agent)
        with pytest.raises(NotPermitted) as refusal:
            await child.spawn("secret")
        assert refusal.value.facts["allowed"] == ["coder", "lead"]
        grandchild = await child.spawn("coder")
        assert grandchild.depth == 2
        with pytest.raises(NotPermitted):
            await hub.acting_as(grandchild.agent).spawn("coder")


async def test_a_spawn_bomb_ends_at_the_caps_and_each_refusal_names_its_limit(home: Path) -> None:
    refused: list[str] = []
    async with Hub.open(home) as hub:
        seen = ["manager"]
        for name in seen:
            for _ in range(5):
                try:
                    seen.append((await hub.acting_as(name).spawn("lead")).agent)
                except Braked as refusal:
                    refused.append(refusal.facts["limit"])
        assert len(await hub.agents.tree()) == 6
        assert {"max_children", "max_live"} <= set(refused)
        await hub.agents.remove(seen[-1])
        with pytest.raises(Braked) as deep:
            await hub.acting_as(seen[-2]).spawn("lead")
        assert deep.value.facts["limit"] == "max_depth"
        for name in seen[1:-1]:
            await hub.agents.remove(name)
        for _ in range(2):
            made = await hub.acting_as("manager").spawn("coder")
            await hub.agents.remove(made.agent)
        assert await hub.links.list() == []


async def test_starts_per_hour_are_counted_with_those_that_are_gone(home: Path) -> None:
    clock = ManualClock(START)
    async with Hub.open(home, clock=clock) as hub:
        manager = hub.acting_as("manager")
        for _ in range(8):
            await hub.agents.remove((await manager.spawn("coder")).agent)
        with pytest.raises(Braked) as refusal:
            await manager.spawn("coder")
        assert refusal.value.facts["limit"] == "per_hour"
        await clock.advance(3601)
        assert (await manager.spawn("coder")).agent == "coder-9"


async def test_the_same_key_starts_once_and_another_request_under_it_is_refused(home: Path) -> None:
    async with Hub.open(home) as hub:
        one = await hub.spawn("coder", task="once", idempotency_key="k")
        two = await hub.spawn("coder", task="once", idempotency_key="k")
        assert (one.agent, one.task and one.task.id) == (two.agent, two.task and two.task.id)
        assert len(await hub.agents.tree()) == 1
        with pytest.raises(Conflict):
            await hub.spawn("coder", task="twice", idempotency_key="k")


async def test_an_agent_starts_others_only_where_it_may_work(home: Path, tmp_path: Path) -> None:
    inside, outside = tmp_path / "open" / "deep", tmp_path / "elsewhere"
    inside.mkdir()
    outside.mkdir()
    (tmp_path / "open" / "way-out").symlink_to(outside)
    async with Hub.open(home) as hub:
        manager = hub.acting_as("manager")
        assert (await manager.spawn("coder", project=str(inside))).project == str(inside)
        for place in (outside, tmp_path / "open" / "way-out", tmp_path / "open" / ".." / "elsewhere"):
            with pytest.raises(NotPermitted, match="elsewhere"):
                await manager.spawn("coder", project=str(place))
        with pytest.raises(MootError, match="no folder"):
            await manager.spawn("coder", project=str(tmp_path / "open" / "missing"))
        with pytest.raises(MootError, match="home"):
            await hub.spawn("coder", project=str(home))
        assert (await hub.spawn("coder", project=str(outside))).project == str(outside)


def with_outsiders(home: Path) -> None:
    toml = home / "moot.toml"
    toml.write_text(toml.read_text().replace("[spawn]\n", '[spawn]\noutside_agents = ["*"]\n'))


async def test_what_an_outside_agent_says_of_its_folder_opens_nothing(home: Path, tmp_path: Path) -> None:
    with_outsiders(home)
    secret, opened = tmp_path / "secret", tmp_path / "open"
    secret.mkdir()
    async with Hub.open(home) as hub:
        who = await hub.agents.arrive("mcp", name="visitor", folder=str(secret))
        visitor = hub.voice_of(who.id, DoorName.MCP)
        assert (await hub.agents.get("visitor")).project == str(secret)
        with pytest.raises(NotPermitted, match="secret"):
            await visitor.spawn("coder", project=str(secret))
        assert (await visitor.spawn("coder", project=str(opened))).project == str(opened)
        assert (await visitor.spawn("coder")).project == ""


async def test_only_the_owner_says_where_an_agent_works(home: Path, tmp_path: Path) -> None:
    with_outsiders(home)
    async with Hub.open(home) as hub:
        who = await hub.agents.arrive("http", name="visitor")
        visitor = hub.voice_of(who.id, DoorName.HTTP)
        with pytest.raises(NotPermitted, match="only the owner"):
            await visitor.agents.change("visitor", project=str(tmp_path / "open"))
        assert (await visitor.agents.change("visitor", role="looks around")).role == "looks around"
        assert (await hub.agents.change("visitor", project=str(tmp_path / "open"))).project


async def test_the_child_of_one_that_has_gone_may_start_no_more_than_that_one(home: Path) -> None:
    with_outsiders(home)
    async with Hub.open(home) as hub:
        manager = hub.acting_as("manager")
        first = await manager.spawn("lead")
        second = await hub.acting_as(first.agent).spawn("lead")
        await hub.agents.remove(first.agent)
        with pytest.raises(NotPermitted, match="secret"):
            await hub.acting_as(second.agent).spawn("secret")
        assert (await hub.agents.get(second.agent)).name == second.agent


async def test_a_start_is_no_failure_where_only_running_it_has_to_wait(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def away(agents: SpawnedAgents) -> None:
        raise StoreUnwritable("busy for a moment")

    async with Hub.open(home) as hub:
        monkeypatch.setattr(SpawnedAgents, "run_all", away)
        made = await hub.spawn("coder")
        assert [one.agent for one in await hub.agents.tree()] == [made.agent]


def minute_by_minute(clock: ManualClock, hub: Hub) -> Callable[[], Awaitable[Any]]:
    """Who was started, a minute later each time: a look that is under way sleeps from where the clock stands at its
    end, so that one great leap may be its last."""

    async def look() -> Any:
        await clock.advance(61)
        return await hub.agents.tree()

    return look


async def test_one_failed_look_is_not_the_last(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    clock, looks = ManualClock(START), [0]

    async def failing(agents: SpawnedAgents) -> None:
        looks[0] += 1
        raise StoreUnwritable("busy for a moment")

    async with Hub.open(home, clock=clock, socket=home / "run" / "hub.sock") as hub:
        await hub.spawn("coder")
        with monkeypatch.context() as patched:
            patched.setattr(SpawnedAgents, "run_all", failing)
            await clock.advance(61)
            await until(lambda: _now(looks[0]), bool)
        await until(minute_by_minute(clock, hub), lambda tree: not [one for one in tree if not one.ended_at])


async def test_a_refused_start_leaves_nothing_behind(home: Path) -> None:
    async with Hub.open(home) as hub:
        before = (hub.position, [one.name for one in await hub.agents.list()])
        with pytest.raises(MootError):
            await hub.acting_as("manager").spawn("coder", name="all", task="hello")
        assert [one.name for one in await hub.agents.list()] == before[1]
        assert await hub.links.list() == []
        assert await hub.tasks.list() == []


async def test_what_was_started_goes_on_after_a_restart_and_retires_when_idle(home: Path) -> None:
    clock = ManualClock(START)
    hub_socket = home / "run" / "hub.sock"
    async with Hub.open(home, clock=clock) as hub:
        await hub.spawn("coder")
    async with Hub.open(home, clock=clock, socket=hub_socket) as hub:
        said = await hub.ask("coder", "are you there?", timeout=40)
        assert said.text
        await clock.advance(9 * 60)
        assert (await hub.agents.tree())[0].ended_at is None
        gone = await until(minute_by_minute(clock, hub), lambda found: found[0].ended_at is not None)
        assert gone[0].ending == "it had nothing to do"
        assert "coder" not in [one.name for one in await hub.agents.list()]


async def test_what_a_retired_agent_had_given_on_is_reported_to_whoever_started_it(home: Path) -> None:
    async with Hub.open(home) as hub:
        lead = await hub.acting_as("manager").spawn("lead")
        coder = await hub.acting_as(lead.agent).spawn("coder", task="take your time")
        await hub.agents.remove(lead.agent)
        [task] = [one for one in await hub.tasks.list() if one.to == coder.agent]
        assert task.by in ("manager", "lead")
        assert task.state in ("open", "working", "done")
        [record] = await store_of(hub).records(SPAWNED.one("lead"))
        assert record.ending == "it was removed"
