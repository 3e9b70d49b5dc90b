"""T-POINT: the process dies, fails or stalls exactly at a named point; afterwards the round is as it should be.

For each failpoint every time it is reached is tried, the first, the second and so on, until a round goes through
without meeting it. After the death a second process finishes what the first began: the same agents in the same
order, each heard exactly once (FLOOR scenario 37), and the ledger without a violation.
"""

import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from moot.failpoints import (
    AUDIT_POINTS,
    BRIDGE_POINTS,
    NOTICE_POINTS,
    POINTS,
    RELAY_POINTS,
    TRANSFER_POINTS,
)
from moot.model.participant import Kind
from moot.model.turn import TurnState
from tests.faults import rounds
from tests.support import checker, ledger, remains
from tests.support.processes import NIGHTLY, ROOT, SCALE, Server, kept_on_failure, path_of_imports, serving

MAX_TIMES = 80
SECONDS = 40.0
"""In which a round is played, however busy the machine is."""
PATIENCE = {"kill": SECONDS, "raise": 1.0, "sleep": SECONDS}
AFTER: dict[str, list[dict[str, int]]] = {
    "kill": [{"signal": signal.SIGKILL, "code": 0}],
    "raise": [{"signal": 0, "code": code} for code in (rounds.UNSETTLED, rounds.BROKEN, rounds.STUNG)],
    "sleep": [{"signal": 0, "code": rounds.STUNG}],
}
"""How a process may end that met its point."""
ORDER = ["b", "a", "c"]
NEEDS_A_HOLD = {"sweep.begun"}
"""Points that only a round with a cooldown reaches."""


@pytest.fixture(scope="module")
def forks() -> Iterator[Server]:
    with serving("tests.faults.rounds", MOOT_FAILPOINT="none") as server:
        yield server


def used_points() -> set[str]:
    pattern = re.compile(r'\bfailpoint\("([^"]+)"\)')
    sources = (ROOT / "src").rglob("*.py")
    return {name for path in sources for name in pattern.findall(path.read_text(encoding="utf-8"))}


def test_every_failpoint_is_listed_and_every_listed_one_is_in_the_code() -> None:
    assert used_points() == {
        *POINTS,
        *AUDIT_POINTS,
        *RELAY_POINTS,
        *BRIDGE_POINTS,
        *NOTICE_POINTS,
        *TRANSFER_POINTS,
    }
    assert len(POINTS) == len(set(POINTS)) >= 12


async def assert_as_if_nothing_happened(home: Path, rounds_played: int) -> None:
    """Each agent was heard once, in its place; a turn whose brain was made to fail says so instead."""
    left = await remains.gather(home)
    ops = ledger.read(home / "ledger.jsonl")
    assert checker.found(checker.check(ops, left)) == {}
    [messages] = left.messages.values()
    ended = sorted((t for t in left.turns if t.state is not TurnState.CANCELLED), key=lambda turn: turn.id)
    assert [turn.agent for turn in ended] == ORDER * rounds_played
    said = [turn.agent for turn in ended if turn.state is TurnState.SAID]
    assert [m.author for m in messages if m.by_agent] == said
    assert [m.text for m in messages if m.kind is Kind.HUMAN] == ["hi @b @a", "and now? @b"][:rounds_played]
    measured = [t.id for t in ended if t.agent == rounds.USES_A_TOOL and t.state is TurnState.SAID]
    answers = [m.turn or 0 for m in messages if m.kind is Kind.TOOL]
    assert sorted(answers) == sorted(set(answers)), "a tool answered twice in one turn"
    assert set(measured) <= set(answers)
    notices = [m for m in messages if m.kind is Kind.SYSTEM]
    assert len(notices) == len(ended) - len(said), notices
    assert all(turn.state in (TurnState.SAID, TurnState.FAILED) for turn in ended), ended
    thoughts = (home / "thoughts").read_text(encoding="utf-8").split("\n")[:-1]
    assert len(thoughts) <= len(set(thoughts)) + 1, f"one death may repeat one thought: {thoughts}"


async def all_were_heard(home: Path) -> bool:
    left = await remains.gather(home)
    return all(turn.state is not TurnState.FAILED for turn in left.turns)


async def each_time(forks: Server, point: str, action: str, folder: Path) -> int:
    """How often the round met the point; every one of them was survived."""
    held = point in NEEDS_A_HOLD
    for time in range(1, MAX_TIMES):
        home = folder / f"{time}"
        spec = f"{point}:{action}:{time}"
        with kept_on_failure(f"point-{spec.replace(':', '-')}", home):
            first = forks.ask(home=str(home), failpoint=spec, seconds=PATIENCE[action], again=held)
            unharmed = first == {"signal": 0, "code": rounds.SETTLED}
            assert unharmed or first in AFTER[action], f"{spec}: {first}"
            if first["code"] != rounds.STUNG and not unharmed:
                second = forks.ask(home=str(home), seconds=SECONDS, again=held)
                assert second == {"signal": 0, "code": rounds.SETTLED}, f"{spec}: {second}"
            await assert_as_if_nothing_happened(home, 1 + held)
            assert action == "raise" or await all_were_heard(home)
        if unharmed:
            return time - 1
    raise AssertionError(f"{point} was met more than {MAX_TIMES} times")


@pytest.mark.timeout(300 * SCALE)
@pytest.mark.parametrize("action", ["kill", "raise", "sleep"] if NIGHTLY else ["kill"])
@pytest.mark.parametrize("point", POINTS)
async def test_trouble_at_any_point_changes_nothing_in_the_end(
    forks: Server, point: str, action: str, tmp_path: Path
) -> None:
    times = await each_time(forks, point, action, tmp_path)
    print(f"{point}: {action} at {times} moments")
    assert times >= 1, f"the round never reached {point}"


def run_alone(home: Path, **environment: str) -> int:
    code = "import sys; from tests.faults import rounds; raise SystemExit(rounds.one({'home': sys.argv[1]}))"
    done = subprocess.run(
        [sys.executable, "-c", code, str(home)],
        env={**os.environ, "PYTHONPATH": path_of_imports(), **environment},
        cwd=ROOT,
        check=False,
        timeout=2 * rounds.HARD_LIMIT,
    )
    return done.returncode


async def test_the_environment_variable_chooses_the_point(tmp_path: Path) -> None:
    """As an operator would: a whole process, started with MOOT_FAILPOINT."""
    home = tmp_path / "home"
    assert run_alone(home, MOOT_FAILPOINT="write.precommit:kill:4") == -signal.SIGKILL
    assert run_alone(home) == rounds.SETTLED
    await assert_as_if_nothing_happened(home, 1)
