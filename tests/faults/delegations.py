"""A process in which a manager delegates and a worker works, and which may die anywhere on that way.

Forked per case, as rounds.py does. A case is a line `{"home", "failpoint", "seconds", "cast", "deadline", "shaped"}`:
`cast` says which of the two agents live in this process, `deadline` after how many seconds the task expires (the worker
then says that it is at it, and no more), `shaped` whether a number is asked for (which the worker first says in words).
The failpoint counts from where the person asks; the home is furnished before.
"""

from __future__ import annotations

import asyncio
import os
from pathlib import Path
from typing import Any

from moot import failpoints
from moot.brains.code import AgentSpec
from moot.errors import StoreUnwritable
from moot.hub import Hub
from moot.model.records.task import UNFINISHED
from tests.faults import rounds
from tests.support.waiting import until

MANAGER, WORKER = "manager", "worker"
BOTH = (MANAGER, WORKER)
ASKED = "how many tickets are open?"
RESULT = "two tickets are open"
A_NUMBER = {"type": "integer"}
FITTING = "2"


def manager(home: Path, deadline: float, shape: dict[str, Any] | None) -> AgentSpec:
    """Delegates what a person asks of it, once however often it is asked to think, and notes what it hears of it."""

    async def think(turn: Any) -> str:
        if turn.trigger.kind == "human":
            if not await turn.hub.tasks.list(by=MANAGER):
                await turn.hub.delegate(WORKER, turn.text, deadline_seconds=deadline or None, shape=shape)
            return "one moment"
        note(home, f"{turn.id} {turn.text}")
        return "thank you"

    return AgentSpec(MANAGER, think)


def worker(deadline: float, shape: dict[str, Any] | None) -> AgentSpec:
    async def think(turn: Any) -> str:
        await rounds.use(turn)
        if deadline:
            await turn.hub.tasks.update(turn.trigger.metadata["task"], "working", note="at it")
            return "I am at it"
        if shape is not None and any("does not fit" in message.text for message in turn.messages):
            return FITTING
        return RESULT

    return AgentSpec(WORKER, think)


def note(home: Path, text: str) -> None:
    with (home / "heard").open("a", encoding="utf-8") as file:
        file.write(f"{text}\n")


def settle_in(home: Path, settings: str) -> None:
    home.mkdir()
    (home / "moot.toml").write_text(settings, encoding="utf-8")


async def furnish(home: Path, settings: str = "") -> None:
    """The two agents and their link, before anything goes wrong."""
    settle_in(home, settings)
    async with Hub.open(home) as hub:
        for name in BOTH:
            await hub.agents.create(name)
        await hub.links.create(MANAGER, WORKER, relationship="superior")


async def play(home: Path, case: dict[str, Any]) -> None:
    """The whole way of the task, from wherever an earlier process left it."""
    asyncio.get_running_loop().call_later(case["seconds"], os._exit, rounds.UNSETTLED)
    deadline, cast = case.get("deadline", 0.0), case.get("cast", BOTH)
    shape = A_NUMBER if case.get("shaped") else None
    specs = [manager(home, deadline, shape), worker(deadline, shape)]
    async with Hub.open(home, agents=[spec for spec in specs if spec.name in cast]) as hub:
        failpoints.arm(case.get("failpoint", ""))
        try:
            if MANAGER in cast:
                await hub.send(MANAGER, ASKED, idempotency_key="k1")
            await until(hub.tasks.list, is_over, seconds=rounds.HARD_LIMIT)
            if MANAGER in cast:
                await hub.settled(timeout=rounds.HARD_LIMIT)
        except (OSError, StoreUnwritable):
            os._exit(rounds.BROKEN)


def is_over(tasks: list[Any]) -> bool:
    return bool(tasks) and all(task.state not in UNFINISHED for task in tasks)


def one(case: dict[str, Any]) -> int:
    try:
        asyncio.run(play(Path(case["home"]), case))
    except OSError:
        return rounds.BROKEN
    return rounds.STUNG if case.get("failpoint") and not failpoints.is_armed() else rounds.SETTLED


if __name__ == "__main__":
    rounds.main(one)
