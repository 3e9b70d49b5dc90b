"""What scenarios with links and tasks can do and expect, beside test_floor.py.

acts          link "a superior b" (with `direction`, `on`) · set "a to b" (with `on`, `direction`, `relationship`)
              unlink "a to b" · send "a to b: text" (with `intent`)
              question "a to b: text" (with `awaited`, `shape`)
              delegate "a to b: text" (with `deadline`, `shape`; `in_turn` names where a speaks) · policy
              update "b: done" (with `words`; `in_turn`)
expectations  task (state of the newest) · result (part of it) · told (["place: state"], where its end was told)
              rule, bar and ring (of the refusal) · waits (["a for b"]) · places (all conversations there are)
"""

from typing import Any

from msgspec import json

from moot.errors import MootError
from moot.model.records.link import Direction, Relationship
from tests.support.linked_world import LinkedWorld, named

ACTS = frozenset({"link", "set", "unlink", "send", "question", "delegate", "update", "policy"})
OPTIONS = frozenset({"direction", "on", "relationship", "intent", "deadline", "in_turn", "words", "shape"})
EXPECTATIONS = frozenset({"task", "result", "told", "rule", "bar", "ring", "waits", "places"})


async def act(world: LinkedWorld, where: str, kind: str, value: str, step: dict[str, Any]) -> None:
    pair, _, text = value.partition(":")
    shape = {"shape": json.encode(step["shape"]).decode()} if "shape" in step else {}
    match kind:
        case "link":
            options = {name: step[name] for name in ("direction", "on") if name in step}
            await world.link(*value.split(), **options)
        case "set":
            await world.relink(
                *named(value),
                enabled=step.get("on"),
                direction=Direction(step["direction"]) if "direction" in step else None,
                relationship=Relationship(step["relationship"]) if "relationship" in step else None,
            )
        case "unlink":
            await world.unlink(*named(value))
        case "policy":
            world.under(value)
        case "send":
            step["receipt"] = await world.send(*named(pair), text.strip(), intent=step.get("intent", ""))
        case "question":
            step["receipt"] = await world.ask(
                *named(pair), text.strip(), seconds=step.get("awaited", 60), **shape
            )
        case "delegate":
            author, worker = named(pair)
            turn = await world.running(step["in_turn"], author) if "in_turn" in step else None
            seconds = step.get("deadline", 0.0)
            await world.delegate(author, worker, text.strip(), seconds=seconds, turn=turn, **shape)
        case "update":
            if "in_turn" in step:
                await world.running(step["in_turn"], pair)
            await world.update(pair, await world.newest_task(), text.strip(), step.get("words", ""))
        case _:
            raise ValueError(f"unknown act {kind}")


async def expect(world: LinkedWorld, key: str, wanted: Any, label: str, error: MootError | None) -> None:
    match key:
        case "task":
            assert (await world.newest_task()).state == wanted, label
        case "result":
            assert wanted in (await world.newest_task()).result, label
        case "told":
            told = await world.told_of(await world.newest_task())
            assert [f"{where}: {state}" for where, state in told] == wanted, f"{label}: {told}"
        case "rule" | "bar" | "ring":
            assert error is not None, label
            assert error.facts.get(key) == wanted, f"{label}: {error.facts}"
        case "waits":
            have = [f"{wait.asker} for {wait.target}" for wait in await world.waits()]
            assert have == wanted, f"{label}: {have}"
        case "places":
            assert list(world.where) == wanted, f"{label}: {list(world.where)}"
        case _:
            raise ValueError(f"{label}: unknown expectation {key}")
