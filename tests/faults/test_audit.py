"""Killed while it seals chains or writes down where they stand: the next start goes on, and everything verifies."""

import os
import random
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from moot import Hub
from moot.errors import Conflict
from moot.failpoints import AUDIT_POINTS
from moot.hub.process import heads_key
from moot.hub.process.heads_export import HeadsExport
from moot.hub.process.heads_file import HeadsFile
from moot.settings import Home
from tests.support.beneath import store_of
from tests.support.processes import path_of_imports
from tests.support.waiting import PATIENCE

pytestmark = pytest.mark.req("S-17")

EXPORTING = """
import asyncio, sys
from tests.faults.test_audit import act
asyncio.run(act(sys.argv[1], int(sys.argv[2])))
"""
SMALL = 300
"""Bytes at which the file is written anew, so that it is within a few exports."""


async def act(folder: str, number: int) -> None:
    """Do things, and write down where chains stand, again and again."""
    async with Hub.open(folder) as hub:
        export = HeadsExport(hub._core.parts, max_bytes=SMALL)
        for each in range(3):
            await hub.agents.create(f"agent{number}{each}")
            await hub._core.parts.store.chain_ends(since=0.0)
            await export.export()


def run(home: Path, number: int, failpoint: str = "") -> int:
    done = subprocess.run(
        [sys.executable, "-c", EXPORTING, str(home), str(number)],
        env={**os.environ, "PYTHONPATH": path_of_imports(), "MOOT_FAILPOINT": failpoint},
        check=False,
        timeout=2 * PATIENCE,
    )
    return done.returncode


@pytest.mark.parametrize("point", AUDIT_POINTS)
async def test_killed_while_heads_are_written_nothing_is_doubted_afterwards(
    point: str, tmp_path: Path
) -> None:
    assert run(tmp_path, 1, f"{point}:kill:1") == -signal.SIGKILL
    async with Hub.open(tmp_path) as hub:
        report = await hub.audit.verify()
        assert report.ok, report.problems
    assert run(tmp_path, 2) == 0
    async with Hub.open(tmp_path) as hub:
        report = await hub.audit.verify()
        assert report.ok, report.problems
        assert report.compared >= 1
        home = Home(tmp_path)
        known = HeadsFile(home, heads_key.read(heads_key.place_of(home, ""))).read()
        ends = {end.chain: (end.length, end.hash) for end in await store_of(hub).chain_ends(since=0.0)}
        assert {chain: (head.length, head.hash) for chain, head in known.items()} == ends


async def linked(folder: str, number: int) -> None:
    """Make and delete links as fast as it goes, beside others that do so too."""
    chance = random.Random(number)
    async with Hub.open(folder) as hub:
        for _ in range(12):
            names = chance.sample(["a", "b", "c", "d"], 2)
            try:
                made = await hub.links.create(*names)
                await hub.links.delete(made.id)
            except Conflict:
                continue  # another one was faster


def beside_each_other(home: Path, how_many: int) -> list[int]:
    code = EXPORTING.replace("act", "linked")
    env = {**os.environ, "PYTHONPATH": path_of_imports()}
    command = [sys.executable, "-c", code, str(home)]
    running = [subprocess.Popen([*command, str(number)], env=env) for number in range(how_many)]
    return [process.wait(timeout=2 * PATIENCE) for process in running]


async def test_acts_of_several_processes_are_one_chain(tmp_path: Path) -> None:
    async with Hub.open(tmp_path) as hub:
        for name in ("a", "b", "c", "d"):
            await hub.agents.create(name)
    assert beside_each_other(tmp_path, 3) == [0, 0, 0]
    async with Hub.open(tmp_path) as hub:
        report = await hub.audit.verify()
        assert report.ok, report.problems
        acts = [entry for entry in await hub.audit.log(limit=1000) if entry.chain == "acts"]
        assert [entry.place for entry in acts] == list(range(len(acts), 0, -1))
