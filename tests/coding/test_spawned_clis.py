"""Coding CLIs that start coding CLIs: with no more rights than they have themselves, out of their own budget, and with
nothing left behind."""

import json
from typing import Any

import pytest

from moot import Hub
from moot.model.chain import SPENDING
from tests.coding.test_interjection import direct
from tests.coding.workshop import Workshop
from tests.support.waiting import PATIENCE, until

pytestmark = pytest.mark.req("J-09")


def template(name: str, workshop: Workshop, **settings: Any) -> str:
    brain = settings.pop("brain", "command:claude")
    lines = [f"[templates.{name}]", f'brain = "{brain}"']
    lines += [f"{key} = {json.dumps(value)}" for key, value in settings.items()]
    return "\n".join(lines)


def starts(what: str, **arguments: str) -> str:
    return f"! moot spawn_agent {json.dumps({'template': what, **arguments})}"


async def refused(hub: Hub) -> list[str]:
    """What the audit tells of."""
    return [entry.sentence for entry in await hub.audit.log(limit=100) if entry.act == "refused"]


async def said_by(hub: Hub, name: str, text: str) -> str:
    return str((await hub.ask(name, text, timeout=PATIENCE)).text)


async def test_a_cli_starts_another_which_works_reports_and_leaves_nothing_behind(workshop: Workshop) -> None:
    workshop.agent("lead", "claude", spawns=["*"])
    workshop.rows.append(template("coder", workshop, project=str(workshop.project("lead"))))
    async with workshop.hub(socket=workshop.home.hub_sock) as hub:
        made = json.loads(await said_by(hub, "lead", starts("coder", task="! run pwd")))
        assert made["name"] == "coder", made
        await hub.settled(timeout=PATIENCE)
        [task] = await hub.tasks.list()
        assert (task.state, str(task.result).strip()) == ("done", str(workshop.project("lead")))
        await hub.agents.remove("coder")
    assert workshop.processes() == []


@pytest.mark.parametrize(
    ("lead", "coder", "more"),
    [
        ({}, {"permissions": "ask"}, 'permissions = "ask"'),
        ({"permissions": "read"}, {}, 'permissions = "edit"'),
        ({"sandbox": "bwrap"}, {}, "no sandbox"),
        ({"environment": ["A"]}, {"environment": ["A", "SECRET"]}, "the variables SECRET"),
        (
            {"permissions": "read"},
            {"brain": "openai:x@http://127.0.0.1:9/v1", "tools": ["shell:ls"]},
            "the programs ls",
        ),
    ],
)
async def test_15_what_is_started_has_no_more_rights_than_who_starts_it(
    workshop: Workshop, lead: dict[str, Any], coder: dict[str, Any], more: str
) -> None:
    workshop.agent("lead", "claude", spawns=["*"], **lead)
    workshop.rows.append(template("coder", workshop, project=str(workshop.project("lead")), **coder))
    async with workshop.hub(socket=workshop.home.hub_sock) as hub:
        answer = await said_by(hub, "lead", starts("coder"))
        refusal = await until(lambda: refused(hub), bool)
        assert [one.name for one in await hub.agents.list()] == ["lead"]
    assert "which may do more than itself" in answer
    assert more in json.loads(answer)["detail"]
    assert refusal, "it is in the audit"


async def test_15_a_child_works_where_its_spawner_may_and_nowhere_else(workshop: Workshop) -> None:
    elsewhere, opened = workshop.project("elsewhere"), workshop.project("opened")
    workshop.head = f'[spawn]\ndirectories = ["{opened}"]'
    workshop.agent("lead", "claude", spawns=["*"])
    (workshop.project("lead") / "out").symlink_to(elsewhere)
    workshop.rows.append(template("away", workshop, project=str(elsewhere)))
    workshop.rows.append(template("near", workshop, project=str(opened)))
    async with workshop.hub(socket=workshop.home.hub_sock) as hub:
        lead = hub.acting_as("lead")
        for order in (
            {"template": "away"},
            {"template": "near", "project": str(elsewhere)},
            {"template": "near", "project": str(workshop.project("lead") / "out")},
            {"template": "near", "project": str(workshop.project("lead") / ".." / "elsewhere")},
        ):
            with pytest.raises(Exception, match="may not start an agent in"):
                await lead.spawn(order["template"], project=order.get("project", ""))
        assert (await lead.spawn("near")).project == str(opened)
        assert (await hub.spawn("away")).project == str(elsewhere), "people may"


@pytest.mark.req("M-04")
async def test_15_what_is_started_spends_from_the_budget_of_who_started_it(workshop: Workshop) -> None:
    """Each turn of the scripted CLI costs one cent; the lead has three."""
    workshop.agent("lead", "claude", spawns=["*"], budget_usd=0.03)
    workshop.rows.append(template("coder", workshop, project=str(workshop.project("lead")), spawns=["coder"]))
    async with workshop.hub(socket=workshop.home.hub_sock) as hub:
        await said_by(hub, "lead", starts("coder"))
        await said_by(hub, "coder", starts("coder"))
        assert await said_by(hub, "coder-2", "! say one") == "one"
        stopped = []
        for name in ("coder-2", "coder", "lead"):
            await hub.send(name, "! say another")
            where = await direct(hub, name)
            await hub.settled(where, timeout=PATIENCE)
            stopped.append((await hub.messages(where))[-1].text)
        store = hub._core.parts.store
        rows = {
            (row.kind.value, row.subject): round(row.cost_usd, 4)
            for name in ("lead", "coder", "coder-2")
            for row in await store.records(SPENDING.where(subject=name))
        }
        spent = [turn.usage["cost_usd"] for turn in await hub.turns() if turn.usage]
    for text, name in zip(stopped, ("coder-2", "coder"), strict=False):
        assert text.startswith(
            f"[stopped: {name} has used up the budget of lead, which started it, for today: $0.03 of $0.03"
        )
    assert stopped[2].startswith("[stopped: lead has used up its budget for today: $0.03 of $0.03")
    assert rows == {
        ("agent", "lead"): 0.01,
        ("started", "lead"): 0.02,
        ("agent", "coder"): 0.01,
        ("started", "coder"): 0.01,
        ("agent", "coder-2"): 0.01,
    }
    assert sum(spent) == pytest.approx(0.03), "the ledger adds up to the turns"


async def test_15_a_spawn_bomb_of_clis_ends_at_the_caps_with_the_rule_named(workshop: Workshop) -> None:
    workshop.head = "[spawn]\nmax_live = 3\nmax_children = 2\nmax_depth = 2\n[coding]\nmax_processes = 2"
    workshop.agent("lead", "claude", spawns=["*"])
    workshop.rows.append(template("bomb", workshop, project=str(workshop.project("lead")), spawns=["*"]))
    again = starts("bomb", task=starts("bomb", task=starts("bomb")))
    async with workshop.hub(socket=workshop.home.hub_sock) as hub:
        answer = await said_by(hub, "lead", "\n".join([again] * 4))
        await hub.settled(timeout=2 * PATIENCE)
        tree = [one for one in await hub.agents.tree() if not one.ended_at]
        most = len(workshop.processes())
        words = await until(lambda: refused(hub), bool)
    assert "spawn.max_" in answer
    assert len(tree) == 3
    assert max(one.depth for one in tree) <= 2
    assert most <= 2 * 2, "a keeper and a CLI each"
    assert words
    assert workshop.processes() == []


async def test_15_templates_that_start_each_other_in_a_ring_end_at_the_depth(workshop: Workshop) -> None:
    workshop.head = "[spawn]\nmax_depth = 2"
    workshop.agent("lead", "claude", spawns=["*"])
    for one, other in (("ping", "pong"), ("pong", "ping")):
        workshop.rows.append(template(one, workshop, project=str(workshop.project("lead")), spawns=[other]))
    round_trip = starts("ping", task=starts("pong", task=starts("ping")))
    async with workshop.hub(socket=workshop.home.hub_sock) as hub:
        await said_by(hub, "lead", round_trip)
        await hub.settled(timeout=PATIENCE)
        tree = {one.agent: one.depth for one in await hub.agents.tree() if not one.ended_at}
        words = await until(lambda: refused(hub), bool)
    assert tree == {"ping": 1, "pong": 2}
    assert words
    assert workshop.processes() == []


async def test_rights_that_were_taken_from_a_spawner_are_taken_from_what_it_started(
    workshop: Workshop,
) -> None:
    workshop.agent("lead", "claude", spawns=["*"])
    workshop.rows.append(template("coder", workshop, project=str(workshop.project("lead"))))
    async with workshop.hub(socket=workshop.home.hub_sock) as hub:
        await said_by(hub, "lead", starts("coder"))
        assert await said_by(hub, "coder", "! say here") == "here"
    workshop.rows.clear()
    workshop.agent("lead", "claude", spawns=["*"], permissions="read")
    workshop.rows.append(template("coder", workshop, project=str(workshop.project("lead"))))
    async with workshop.hub(socket=workshop.home.hub_sock) as hub:
        assert await said_by(hub, "lead", "! say here") == "here"
        await hub.send("coder", "! say here")

        async def states() -> list[str]:
            return [turn.state for turn in await hub.turns(agent="coder")]

        # it may do more than who started it: nobody runs it
        await until(states, lambda found: found[-1] == "owed")
