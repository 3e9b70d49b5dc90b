"""What is read for one agent does not grow with what others have: counted by the lookups that reach the store."""

from pathlib import Path
from typing import Any

import pytest

from moot import Hub, agent
from moot.errors import NotFound
from moot.model.ids import ParticipantId
from moot.model.records.link import LINKS
from moot.model.records.record import Lookup
from moot.model.records.task import TASKS
from tests.support.beneath import store_of


@agent("b")
async def b(turn: Any) -> str:
    return "yes"


class Reading:
    """Counts the links and tasks that a store hands out."""

    def __init__(self, hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
        self.records = 0
        store = store_of(hub)
        inner = store._reads.records if hasattr(store, "_reads") else store.records

        async def counted(lookup: Lookup[Any]) -> list[Any]:
            found: list[Any] = await inner(lookup)
            if lookup.table.name in (
                LINKS.name,
                TASKS.name,
            ):  # the hub looks at others whenever it is time to
                self.records += len(found)
            return found

        monkeypatch.setattr(store._reads if hasattr(store, "_reads") else store, "records", counted)


async def test_where_an_agent_stands_is_read_from_its_own_tasks_and_the_kept_graph(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with Hub.open(tmp_path, agents=[b]) as hub:
        for name in ("a", "x", "y"):
            await hub.agents.create(name, external=True)
        await hub.links.create("x", "y", relationship="superior")
        for number in range(3):
            await hub.acting_as("x").delegate("y", f"work {number}")
        place = await hub.acting_as("x").org_place()
        assert place.has_task
        assert (await hub.acting_as("y").org_place()).has_task
        reading = Reading(hub, monkeypatch)
        assert not (await hub.acting_as("a").org_place()).has_task
        assert reading.records == 0
        await hub.acting_as("x").org_place()
        assert reading.records == 3, "its own are read"
        await hub.links.create("a", "b")
        assert (await hub.acting_as("a").org_place()).graph.of(ParticipantId("a")), (
            "a link that is new is there at once"
        )


async def test_a_mistyped_task_reads_no_other_tasks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async with Hub.open(tmp_path) as hub:
        await hub.agents.create("y", external=True)
        made = [await hub.delegate("y", f"work {number}") for number in range(3)]
        reading = Reading(hub, monkeypatch)
        for wrong in ("t", "zzzz", f"{made[0].id}x", made[0].id[:-1] + "~"):
            with pytest.raises(NotFound):
                await hub.tasks.get(wrong)
        assert reading.records == 0
        assert (await hub.tasks.get(made[0].id[:-1])).task.startswith("work")


@pytest.mark.parametrize("asker", ["user", "a"])
async def test_only_questions_of_agents_look_at_who_waits(tmp_path: Path, asker: str) -> None:
    async with Hub.open(tmp_path, agents=[b]) as hub:
        await hub.agents.create("a", external=True)
        scopes: list[Any] = []
        store = store_of(hub)
        inner = store.transact

        async def noted(verb: Any, command: Any) -> Any:
            scopes.extend(lookup.table.name for lookup in verb.scope(command).records)
            return await inner(verb, command)

        store.transact = noted
        assert (await hub.acting_as(asker).ask("b", "well?", timeout=40)).text == "yes"
        assert ("waits" in scopes) is (asker == "a")
