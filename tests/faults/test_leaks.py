"""What a hub holds does not grow with what it has done: open files, threads, objects and memory return to the start."""

import time
from typing import Any

import pytest

from tests.support.processes import SCALE, Server, serving
from tests.support.waiting import PATIENCE

CONNECTS = 10_000 * SCALE
TURNS = 10_000 * SCALE
WARM_CONNECTS, WARM_TURNS = 500, 2_000
"""Of these; by then the events kept at hand and the other bounded memories are full."""
AGENTS = 1_000
KIB_EACH = 12
NOISE_KIB = 6 * 1024
NOISE_OBJECTS = 500


def at_rest(hub: Server, done: dict[str, Any]) -> dict[str, Any]:
    """What it holds once nothing is under way any more: it holds the same when it is looked at again."""
    end = time.monotonic() + PATIENCE
    before: dict[str, Any] = {}
    while [before.get(what) for what in ("files", "threads")] != [done["files"], done["threads"]]:
        assert time.monotonic() < end, f"from {before} to {done}"
        before, done = done, hub.ask(do="look", times=0)
    return done


def returned(hub: Server, start: dict[str, Any], done: dict[str, Any]) -> dict[str, Any]:
    """What it holds once it has let go of what it had not at the start; or still, if it does not."""
    end = time.monotonic() + PATIENCE
    while done["files"] > start["files"] or done["threads"] > start["threads"]:
        if time.monotonic() > end:
            break
        done = hub.ask(do="look", times=0)
    return done


@pytest.mark.timeout(300 * SCALE)
def test_connections_and_turns_leave_nothing_behind() -> None:
    with serving("tests.faults.growing") as hub:
        hub.ask(do="connect", times=WARM_CONNECTS)
        start = at_rest(hub, hub.ask(do="turns", times=WARM_TURNS))
        worked = returned(hub, start, hub.ask(do="turns", times=TURNS - WARM_TURNS))
        end = returned(hub, start, hub.ask(do="connect", times=CONNECTS - WARM_CONNECTS))
    print(start, worked, end)
    assert worked["turns"] >= TURNS
    assert end["connects"] >= CONNECTS
    for later in (worked, end):
        assert later["files"] <= start["files"]
        assert later["threads"] <= start["threads"]
        assert later["objects"] <= start["objects"] + NOISE_OBJECTS
        assert later["kib"] <= start["kib"] + NOISE_KIB


def test_a_thousand_idle_agents_take_little_memory() -> None:
    with serving("tests.faults.growing") as hub:
        start = at_rest(hub, hub.ask(do="turns", times=300))
        fleet = at_rest(hub, hub.ask(do="host", times=AGENTS))
    each = (fleet["kib"] - start["kib"]) / AGENTS
    print(f"{each:.1f} KiB each")
    assert each <= KIB_EACH
    assert fleet["threads"] <= start["threads"] + 1, (
        "a thread may have been started late, none for each agent"
    )
    assert fleet["files"] <= start["files"] + 2
