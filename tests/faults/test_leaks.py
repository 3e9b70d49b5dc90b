"""What a hub holds does not grow with what it has done: open files, threads, objects and memory return to the start."""

import pytest

from tests.support.processes import SCALE, serving

CONNECTS = 10_000 * SCALE
TURNS = 10_000 * SCALE
WARM_CONNECTS, WARM_TURNS = 500, 2_000
"""Of these; by then the events kept at hand and the other bounded memories are full."""
AGENTS = 1_000
KIB_EACH = 12
NOISE_KIB = 6 * 1024
NOISE_OBJECTS = 500


@pytest.mark.timeout(90 * SCALE)
def test_connections_and_turns_leave_nothing_behind() -> None:
    with serving("tests.faults.growing") as hub:
        hub.ask(do="connect", times=WARM_CONNECTS)
        start = hub.ask(do="turns", times=WARM_TURNS)
        worked = hub.ask(do="turns", times=TURNS - WARM_TURNS)
        end = hub.ask(do="connect", times=CONNECTS - WARM_CONNECTS)
    print(start, worked, end)
    assert worked["turns"] >= TURNS
    assert end["connects"] >= CONNECTS
    for later in (worked, end):
        assert later["files"] == start["files"]
        assert later["threads"] == start["threads"]
        assert later["objects"] <= start["objects"] + NOISE_OBJECTS
        assert later["kib"] <= start["kib"] + NOISE_KIB


@pytest.mark.timeout(40)
def test_a_thousand_idle_agents_take_little_memory() -> None:
    with serving("tests.faults.growing") as hub:
        start = hub.ask(do="turns", times=300)
        fleet = hub.ask(do="host", times=AGENTS)
    each = (fleet["kib"] - start["kib"]) / AGENTS
    print(f"{each:.1f} KiB each")
    assert each <= KIB_EACH
    assert fleet["threads"] <= start["threads"] + 1, (
        "a thread may have been started late, none for each agent"
    )
    assert fleet["files"] <= start["files"] + 2
