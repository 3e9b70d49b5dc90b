"""Every scenario of the tables beside this file, on pure rules, in memory, on SQLite and on PostgreSQL.

A step has one act and any number of expectations:
  acts         post "user: text" (with `force`, `times`) · ask "user: text" (with `awaited`)
                give_up (seq; with `knows`) · hear (seq): what becomes of who asked
                claim · say "a: text" · pass · fail · expire · wait (seconds)
                up · down · crash · restart · preview "user: text"
                tool "a: text" (with `into`) · check · delete · edit · leave · join
                continue (with `resumed`) · interrupt · pause …
  expectations  turns   open turns in speaking order, "agent duty state"
                why     {agent = "duty rule"} about the newest message (or `about` = seq)
                refused the error code the act ends with · slots_used · head · notice (part of the newest one) …
                turn_of ({agent = {fields of its running turn}}) · states ({agent = state}, as the receipt tells)
                musts (those who must speak, in order) · delayed ({agent = ms}), as the receipt or preview tells
                hour ({agent = turns charged to its hour})
  links and tasks: organisation.py
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

from moot.errors import MootError
from moot.flow import finish, post
from moot.model.change import Decision
from moot.model.conversation import GroupSettings
from moot.model.ids import ParticipantId
from moot.model.limits import Limits
from moot.model.moment import Moment
from moot.model.round import Round, RoundState
from moot.model.turn import TurnState
from moot.ports import Scope
from moot.rules import brakes, why
from moot.rules.draft import Seen
from tests.scenarios import organisation
from tests.support.invariants import Replanning
from tests.support.linked_world import ASKING, LinkedWorld
from tests.support.world import World

HERE = Path(__file__).parent
SCENARIOS = [
    scenario
    for table in sorted(HERE.glob("*.toml"))
    for scenario in tomllib.loads(table.read_text())["scenario"]
]


class Hour:
    """A look at how many turns were charged to an agent's hour."""

    def scope(self, agent: ParticipantId) -> Scope:
        return Scope(names=(agent,))

    def decide(self, agent: ParticipantId, seen: Seen, at: Moment) -> Decision[int]:
        return Decision([], brakes.quota_now(seen.quota(agent), agent, at.now).turns)


def title(scenario: dict[str, Any]) -> str:
    return f"{scenario.get('floor', 'x')}-{scenario['name'].replace(' ', '-')}"


@pytest.mark.req("G-02", "G-03", "G-04", "G-05", "G-06", "G-08", "G-09", "G-10", "A-12", "J-04")
@pytest.mark.parametrize("backend", ["rules", "memory", "sqlite", "postgresql"])
@pytest.mark.parametrize("scenario", SCENARIOS, ids=title)
async def test_scenario(scenario: dict[str, Any], backend: str, tmp_path: Path) -> None:
    world = world_of(scenario, backend, tmp_path)
    await world.open()
    try:
        await play_all(world, scenario)
    finally:
        await world.close()


def world_of(scenario: dict[str, Any], backend: str, folder: Path) -> LinkedWorld:
    groups = convert(scenario.get("settings", {}), GroupSettings)
    world = LinkedWorld(backend, folder, groups, Limits(**scenario.get("limits", {})))
    world.under(scenario.get("policy", "auto"))
    return world


async def play_all(world: LinkedWorld, scenario: dict[str, Any]) -> None:
    places = scenario.get("conversations", {"room": scenario["members"]})
    everyone = list(dict.fromkeys([*scenario["members"], *scenario.get("others", [])]))
    await world.enrol(everyone, scenario.get("external", []), scenario.get("away", []))
    await world.be_interrupted(scenario.get("on_busy", {}))
    for name, members in places.items():
        await world.make(name, members, scenario.get("kind", "group"), {})
    for number, step in enumerate(scenario["steps"], 1):
        await play(world, dict(step), f"step {number} {step}")


async def play(world: LinkedWorld, step: dict[str, Any], label: str) -> None:
    where = step.pop("in", next(iter(world.where)))
    refused = step.pop("refused", None)
    error: MootError | None = None
    before = len(await world.messages(where))
    try:
        await act(world, where, step)
    except MootError as raised:
        error = raised
    got = error.code if error is not None else None
    assert got == refused, f"{label}: ended with {error!r}"
    if refused is not None:
        assert len(await world.messages(where)) == before, f"{label}: a refusal stored something"
    await expect(world, where, step, label, error)
    for place in world.where.values():
        assert await world.store.preview(Replanning(), place) == [], (
            f"{label}: planning again moves something"
        )


def split(text: str) -> tuple[str, str]:
    name, _, words = text.partition(":")
    return name.strip(), words.strip()


async def act(world: LinkedWorld, where: str, step: dict[str, Any]) -> None:
    match next(iter(step.items())):
        case "post", text:
            for _ in range(step.pop("times", 1)):
                posted = await world.post(where, *split(text), force=tuple(step.get("force", [])))
                step["receipt"] = posted
        case "ask", text:
            until = world.now + step["awaited"] if "awaited" in step else 0.0
            author, words = split(text)
            waits = {"intent": post.ASK, "awaited": until, "waits_in": ASKING}
            step["receipt"] = await world.post(where, author, words, **waits)
        case "say", text:
            await world.say(where, *split(text))
        case "tool", text:
            agent, words = split(text)
            await world.tool(where, agent, words, step.pop("into", where))
        case ("claim" | "pass" | "fail" | "expire" | "renew" | "release" | "step") as kind, agent:
            await speak_or_not(world, where, kind, agent)
        case "check", agent:
            taken = await world.check(agent)
            assert len(taken) == step.pop("handed", len(taken))
        case "wait", seconds:
            await world.wait(seconds)
        case ("up" | "down" | "crash" | "join" | "leave") as kind, agent:
            if kind in ("up", "down", "crash"):
                await getattr(world, kind)(agent)
            else:
                await getattr(world, kind)(where, agent)
        case ("pause" | "resume") as kind, agent:
            await world.pause(agent, kind == "pause")
        case "restart", _:
            await world.restart()
        case "configure", settings:
            await world.configure(where, settings)
        case "preview", text:
            author, words = split(text)
            command = post.posting(ParticipantId(author), world.where[where], words)
            step["receipt"] = (await world.store.preview(post, command)).receipt()
        case kind, value if kind in organisation.ACTS:
            await organisation.act(world, where, kind, value, step)
        case kind, value:
            await change(world, where, kind, value, step)


async def speak_or_not(world: World, where: str, kind: str, agent: str) -> None:
    if kind == "claim":
        await world.claim(where, agent)
    elif kind in ("renew", "release", "step"):
        await getattr(world, kind)(where, agent)
    else:
        outcomes = {
            "pass": finish.Said(text="[PASS]"),
            "fail": finish.Failed(error="boom"),
            "expire": finish.Expired(),
        }
        await world.finish(where, agent, outcomes[kind])


async def change(world: LinkedWorld, where: str, kind: str, value: Any, step: dict[str, Any]) -> None:
    match kind:
        case "delete":
            await world.delete(where, value)
        case "edit":
            await world.edit(where, value, step.pop("text"))
        case "continue":
            moved = await world.go_on(where)
            assert moved == step.pop("resumed", moved)
        case "archive":
            await world.archive(where)
        case "stale":
            turns = await world.store.turns(conversation=world.where[where])
            turn = [t for t in turns if t.agent == value][-1]
            late = finish.Finish(turn=turn.id, fence=1, outcome=finish.Said(text="too late"))
            await world.do(finish, late)
        case "interrupt":
            running = [t for t in await world.open_turns(where) if t.state is TurnState.RUNNING]
            partials = {t.id: step.get("partial", "") for t in running}
            if not value:
                await world.interrupt(where, partials)
                return
            author, words = split(value)
            command = post.posting(
                ParticipantId(author), world.where[where], words, interrupt=True, partials=partials
            )
            await world.do(post, command)
        case "give_up":
            await world.give_up(where, value, knows=step.get("knows", False))
        case "hear":
            await world.hear(where, value)
        case "bridge":
            await bridge(world, value)
        case "look":
            pass
        case _:
            raise ValueError(f"unknown act {kind}")


async def bridge(world: World, places: list[str]) -> None:
    """Every turn in one group posts a mention of the other agent into the other group by tool, then passes."""
    other_agent, other_place = {"a": "b", "b": "a"}, {places[0]: places[1], places[1]: places[0]}
    for number in range(100):
        ready = [(w, t) for w in places for t in await world.open_turns(w) if t.state is TurnState.READY]
        if not ready:
            return
        where, turn = ready[0]
        words = f"@{other_agent[turn.agent]} a sentence long enough to be no mere acknowledgement, number {number}"
        await world.tool(where, turn.agent, words, other_place[where])
        await speak_or_not(world, where, "pass", turn.agent)
    raise AssertionError("the cascade does not end")


async def expect(
    world: LinkedWorld, where: str, step: dict[str, Any], label: str, error: MootError | None
) -> None:
    messages = await world.messages(where)
    for key, wanted in step.items():
        match key:
            case "turns":
                assert await world.show(where) == wanted, label
            case "ended":
                assert await world.ended(where) == wanted, label
            case "heard":
                told = [f"{m.author}: {m.text}" for m in messages if m.by_agent]
                assert told == wanted, label
            case "head":
                assert len(messages) == wanted, label
                assert [m.seq for m in messages] == list(range(1, wanted + 1)), label
            case "why":
                await expect_why(world, where, step, wanted, label)
            case "notice":
                notices = [m.text for m in messages if m.kind == "system"]
                assert wanted in (notices or [""])[-1], f"{label}: {notices}"
            case "notices":
                assert len([m for m in messages if m.kind == "system"]) == wanted, label
            case "said":
                turns = await world.store.turns()
                assert sum(t.state is TurnState.SAID for t in turns) == wanted, label
            case "slots_used":
                assert (await newest_round(world, where)).used == wanted, label
            case "due":
                turn = (await world.open_turns(where))[0]
                assert turn.due - 1_800_000_000.0 == pytest.approx(wanted), label
            case "retry_after":
                assert error is not None
                assert error.retry_after_ms == pytest.approx(wanted * 1000, abs=1), label
            case "pointer":
                conversation = await world.conversation_now(where)
                assert conversation.pointer == wanted, label
            case "newest":
                turn = (await world.store.turns(conversation=world.where[where]))[-1]
                have = {name: getattr(turn, name) for name in wanted}
                assert have == wanted, f"{label}: {have}"
            case "message":
                have = {name: getattr(messages[-1], name) for name in wanted if name != "meta"}
                assert have == {k: v for k, v in wanted.items() if k != "meta"}, f"{label}: {have}"
                assert messages[-1].metadata == wanted.get("meta", messages[-1].metadata), label
            case "warned":
                assert [warning.message for warning in step["receipt"].warnings] == wanted, label
            case "turn_of":
                await expect_turns(world, where, wanted, label)
            case "states":
                have = {told.agent: told.state for told in step["receipt"].deliveries}
                assert {agent: have[agent] for agent in wanted} == wanted, f"{label}: {have}"
            case "musts":
                musts = [told.agent for told in step["receipt"].deliveries if told.duty == "must"]
                assert musts == wanted, f"{label}: {musts}"
            case "delayed":
                have = {told.agent: told.delayed_ms for told in step["receipt"].deliveries}
                assert {agent: have[agent] for agent in wanted} == wanted, f"{label}: {have}"
            case "hour":
                for agent, turns in wanted.items():
                    assert await world.store.preview(Hour(), ParticipantId(agent)) == turns, label
            case "queued":
                rounds = [await world.store.round(world.where[where], m.seq) for m in messages]
                assert sum(r is not None and r.state is RoundState.QUEUED for r in rounds) == wanted, label
            case "partial" | "about" | "handed" | "force" | "receipt" | "times" | "awaited" | "knows":
                pass
            case _ if key in organisation.EXPECTATIONS:
                await organisation.expect(world, key, wanted, label, error)
            case _ if key in ACTS or key in organisation.ACTS or key in organisation.OPTIONS:
                pass
            case _:
                raise ValueError(f"{label}: unknown expectation {key}")


ACTS = frozenset({
    "post", "ask", "give_up", "hear", "step", "say", "tool", "claim", "pass", "fail", "expire", "renew", "release",
    "check", "wait", "up", "down", "crash", "join", "leave", "pause", "resume", "restart", "delete", "edit", "continue",
    "archive", "stale", "interrupt", "bridge", "look", "configure", "into", "text", "preview",
})  # fmt: skip


async def expect_turns(world: World, where: str, wanted: dict[str, dict[str, Any]], label: str) -> None:
    """What the running turns of some agents are."""
    running = {t.agent: t for t in await world.open_turns(where) if t.state is TurnState.RUNNING}
    for agent, fields in wanted.items():
        have = {name: getattr(running[ParticipantId(agent)], name) for name in fields}
        assert have == fields, f"{label}: {have}"


async def newest_round(world: World, where: str) -> Round:
    messages = await world.messages(where)
    for message in reversed(messages):
        found = await world.store.round(world.where[where], message.seq)
        if found is not None:
            return found  # type: ignore[no-any-return]
    raise AssertionError("there is no round")


async def expect_why(
    world: World, where: str, step: dict[str, Any], wanted: dict[str, str], label: str
) -> None:
    messages = [m for m in await world.messages(where) if m.kind != "system"]
    message = messages[-1]
    if "about" in step:
        message = next(m for m in messages if m.seq == step["about"])
    round_ = await world.store.round(world.where[where], message.round)
    turns = await world.store.turns(conversation=world.where[where])
    for agent, said in wanted.items():
        duty, rule = why.final(message, round_, turns, ParticipantId(agent))
        assert f"{duty} {rule}" == said, f"{label}: {agent} is {duty} {rule}"
