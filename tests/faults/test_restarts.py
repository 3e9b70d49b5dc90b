"""Every scenario of the floor, with a new process before each step: nothing the rules need lives in memory only."""

from pathlib import Path
from typing import Any

import pytest
from msgspec import convert

from moot.model.conversation import GroupSettings
from moot.model.limits import Limits
from tests.scenarios.test_floor import SCENARIOS, play, title
from tests.support.linked_world import LinkedWorld


@pytest.mark.req("G-04", "G-06")
@pytest.mark.parametrize("scenario", SCENARIOS, ids=title)
async def test_a_scenario_with_a_restart_before_each_step(scenario: dict[str, Any], tmp_path: Path) -> None:
    groups = convert(scenario.get("settings", {}), GroupSettings)
    world = LinkedWorld("sqlite", tmp_path, groups, Limits(**scenario.get("limits", {})))
    world.under(scenario.get("policy", "auto"))
    await world.open()
    places = scenario.get("conversations", {"room": scenario["members"]})
    everyone = list(dict.fromkeys([*scenario["members"], *scenario.get("others", [])]))
    await world.enrol(everyone, scenario.get("external", []), scenario.get("away", []))
    await world.be_interrupted(scenario.get("on_busy", {}))
    for name, members in places.items():
        await world.make(name, members, scenario.get("kind", "group"), {})
    try:
        for number, step in enumerate(scenario["steps"], 1):
            await world.restart()
            await play(world, dict(step), f"step {number} {step}")
    finally:
        await world.close()
