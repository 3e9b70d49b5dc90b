"""The rules against an independent model of them: the same random histories on both, compared after every act.

The model (tests/support/floor_model.py) was written from the rules of the floor and from no code. First it has to hold
the scenarios of the design, then both are played side by side.
"""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from moot.errors import MootError
from moot.flow import finish
from moot.model.conversation import GroupSettings, ReplyStrategy, TurnOrder
from moot.model.limits import Limits
from tests.support.both_floors import Both
from tests.support.floor_model import Floor
from tests.support.floor_state import Rules
from tests.support.history import at_once
from tests.support.pair_model import PairLimiter
from tests.support.world import World

pytestmark = [pytest.mark.req("G-06", "G-09", "A-12"), pytest.mark.timeout(1800)]

SCENARIOS = Path(__file__).parent.parent / "scenarios"
BEYOND = {"external", "limits", "kind", "conversations"}
"""What makes a scenario one the model does not know: outside agents, chains, directs, several groups."""
UNKNOWN_ACTS = {"continue", "archive", "configure", "edit", "release", "check", "preview", "ask"}


def modelled() -> list[dict[str, Any]]:
    """The scenarios about one group."""
    tables = [tomllib.loads(table.read_text())["scenario"] for table in sorted(SCENARIOS.glob("*.toml"))]
    found = [scenario for table in tables for scenario in table]
    return [
        s
        for s in found
        if not BEYOND & set(s)
        and not any(
            UNKNOWN_ACTS & set(step) or step.get("post", "user:")[:5] != "user:" for step in s["steps"]
        )
        and "agents_may_invite" not in s.get("settings", {})
        and all(step.get("times", 1) == 1 for step in s["steps"])
    ]


def names_in(text: str) -> list[str]:
    plain = re.sub(r"`[^`]*`|\S+://\S+", "", text)
    return re.findall(r"(?<!\w)@(\w+)", plain)


def title(scenario: dict[str, Any]) -> str:
    return f"{scenario.get('floor', 'x')}-{scenario['name'].replace(' ', '-')}"


@pytest.mark.parametrize("scenario", modelled(), ids=title)
def test_the_model_holds_the_scenarios(scenario: dict[str, Any]) -> None:
    floor = Floor(scenario["members"], Rules(**scenario.get("settings", {})), scenario.get("away", []))
    floor.up |= set(scenario.get("others", []))
    for number, step in enumerate(scenario["steps"], 1):
        play(floor, step)
        for key, wanted in step.items():
            expect(floor, step, key, wanted, f"step {number} {step}")


def play(floor: Floor, step: dict[str, Any]) -> None:
    kind, value = next(iter(step.items()))
    agent, _, words = str(value).partition(":")
    match kind:
        case "post":
            floor.post(names_in(words), step.get("force"))
        case "interrupt" if value:
            floor.post(names_in(words), interrupt=True, partial="partial" in step)
        case "interrupt":
            floor.interrupt(partial="partial" in step)
        case "say" | "tool" | "pass" | "fail" | "expire":
            if agent not in [turn.agent for turn in floor.running()]:
                floor.claim(agent)
            if kind in ("say", "tool"):
                accepted = getattr(floor, kind)(agent, names_in(words))
                assert (accepted is False) == ("refused" in step)
            else:
                getattr(floor, {"pass": "pass_"}.get(kind, kind))(agent)
        case "claim":
            if agent in [turn.agent for turn in floor.claimable()]:
                floor.claim(agent)
        case "up" | "down":
            {"up": floor.comes, "down": floor.goes}[kind](agent)
        case "wait" | "delete" | "leave" | "join" | "pause" | "resume" | "crash":
            getattr(floor, kind)(value)
        case "restart" | "look" | "renew" | "stale":
            pass
        case _:
            raise ValueError(f"unknown act {kind}")


def expect(floor: Floor, step: dict[str, Any], key: str, wanted: Any, label: str) -> None:
    match key:
        case "turns":
            assert shown(floor) == wanted, label
        case "head":
            assert floor.head == wanted, label
        case "pointer":
            assert floor.pointer == wanted, label
        case "queued":
            assert sum(r.state == "queued" for r in floor.rounds.values()) == wanted, label
        case "slots_used":
            assert floor.rounds[max(floor.rounds)].used == wanted, label
        case "why":
            talk = [m.seq for m in floor.messages if m.kind != "system"]
            seq = step.get("about", talk[-1])
            open_ = {agent: floor.why(seq, agent) for agent in wanted}
            for agent, said in wanted.items():
                have = open_[agent]
                assert have is None or " ".join(have) == said, f"{label}: {agent} {have}"
        case "newest":
            turn = floor.turns[-1]
            known = {
                k: v
                for k, v in wanted.items()
                if k in ("lo", "hi", "cause", "depth", "round", "agent", "hop")
            }
            if turn.agent == wanted.get("agent", turn.agent):
                assert {name: getattr(turn, name) for name in known} == known, label
        case _:
            pass


def shown(floor: Floor) -> list[str]:
    rank = {"running": 0, "ready": 1, "held": 2, "waiting": 3}
    turns = sorted(floor.open_turns(), key=lambda t: (rank.get(t.state, 9), t.place))
    return [f"{t.agent} {floor.duty(t)} {t.state}" for t in turns]


# --- side by side ------------------------------------------------------------------------------------------------

history = st.lists(
    st.tuples(st.sampled_from(Both.DECK), st.integers(0, 1023), st.integers(0, 255)), min_size=10, max_size=40
)
group_settings = st.builds(
    GroupSettings,
    reply_strategy=st.sampled_from([ReplyStrategy.HYBRID, *ReplyStrategy]),
    turn_order=st.sampled_from([TurnOrder.SEQUENTIAL, *TurnOrder]),
    max_agent_turns_per_message=st.integers(1, 5),
    max_depth=st.integers(1, 3),
    reactive_round=st.booleans(),
    cooldown_seconds=st.sampled_from([0.0, 0.0, 2.0, 60.0]),
    max_voluntary_responders=st.integers(1, 3),
    max_voluntary_polls=st.sampled_from([2, 8]),
)


@settings(max_examples=int(settings().max_examples * 8))
@given(agents=st.integers(1, 7), groups=group_settings, away=st.sampled_from([0, 0, 1, 2, 5]), acts=history)
def test_the_rules_and_the_model_say_the_same(
    agents: int, groups: GroupSettings, away: int, acts: list[tuple[str, int, int]]
) -> None:
    both = Both(agents, groups, away)
    try:
        for act in acts:
            both.act(*act)
            both.compare()
        both.settle()
        both.compare()
        both.compare_why()
    except Exception:
        note("\n".join([str(groups), *both.log]))
        raise


gaps = st.lists(st.sampled_from([0.0, 0.5, 1.0, 2.0, 4.5, 5.0, 6.0, 12.0, 29.5, 30.0, 31.0]), max_size=25)


@pytest.mark.req("J-04")
@settings(max_examples=int(settings().max_examples * 2))
@given(gaps=gaps, answers=st.booleans())
def test_the_pair_limiter_and_its_model_say_the_same(gaps: list[float], answers: bool) -> None:
    """Whether the receiver takes its turns or not: what is said, and when it is due, are the pair's alone."""
    world, model = World("rules", Path(), GroupSettings(), Limits()), PairLimiter()
    at_once(world.open())
    at_once(world.enrol(["ada", "bo"], [], []))
    at_once(world.make("pair", ["ada", "bo"], "direct", {}))
    start = world.now
    for number, gap in enumerate(gaps):
        at_once(world.wait(gap))
        wanted = model.send(world.now - start)
        try:
            text = f"sentence number {number} with enough words to be no mere nod"
            told = at_once(world.post("pair", "ada", text)).deliveries
            held: float | None = next(each.delayed_ms for each in told if each.agent == "bo") / 1000
        except MootError as refusal:
            held = None if refusal.code == "E302" else -1.0
        assert held == wanted, f"message {number + 1} at {world.now - start:g} s"
        if answers and at_once(world.claim("pair", "bo")) is not None:
            at_once(world.finish("pair", "bo", finish.Said(text="[PASS]")))
