"""The host is killed with -9 in the middle of a tool: nothing stays alive, and one answer follows after the restart."""

import asyncio
import os
import sys
from functools import partial
from pathlib import Path

import pytest

from moot.model.chain import RESERVATIONS
from tests.coding.test_interjection import direct
from tests.coding.test_keeper import alive
from tests.coding.workshop import Workshop
from tests.support.clocks import LaterClock
from tests.support.waiting import PATIENCE, until, within

TIMES = int(os.environ.get("MOOT_HOST_KILLS", "1"))
HOST = """
import asyncio, sys
from moot import Hub
from moot.settings import Home, load
from moot.wiring import configured_agents
async def main():
    home = Home(__import__("pathlib").Path(sys.argv[1]))
    async with Hub.open(home.path, agents=configured_agents(load(home), home)) as hub:
        await hub.send("arya", sys.argv[2])
        await asyncio.sleep(3600)
asyncio.run(main())
"""


def number_in(file: Path) -> str:
    return file.read_text().strip() if file.exists() else ""


@pytest.mark.req("J-08")
@pytest.mark.parametrize("kind", ["claude", "codex"])
async def test_5_killed_in_a_tool_nothing_is_alive_after_five_seconds_and_one_answer_follows(
    workshop: Workshop, kind: str
) -> None:
    workshop.agent("arya", kind, budget_tokens=100_000_000)
    workshop.write()
    for time in range(TIMES):
        seen = workshop.root / f"seen{time}"
        acts = f"! run if test -e {seen}; then echo again; else echo $$ > {seen}; sleep 300; fi"
        host = await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", HOST, str(workshop.home.path), acts), stderr=asyncio.subprocess.DEVNULL
        )
        await until(partial(asyncio.to_thread, number_in, seen), bool)
        host.kill()
        await host.wait()
        await within(5.0, workshop.left, lambda lines: not lines)
        assert not alive(int(seen.read_text()))
        async with workshop.hub(clock=LaterClock()) as hub:
            where = await direct(hub, "arya")
            await hub.settled(where, timeout=PATIENCE)
            said = await hub.messages(where, limit=500)
            assert await hub._core.parts.store.records(RESERVATIONS.all()) == []
        answers = [one for one in said if one.sender == "arya"]
        assert len(answers) == time + 1, [(one.sender, one.text[:80]) for one in said]
        assert [one for one in said if one.sender == "tool" and "cut off by a crash" in one.text]
