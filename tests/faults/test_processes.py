"""Several processes write to one home at once: no error, no loss, no gap, and a key is one key for all of them."""

import subprocess
import time
from pathlib import Path

import pytest
from msgspec import json

from moot.hub import Hub
from tests.faults.writer import ROOMS, SHARED
from tests.support import checker, ledger, remains
from tests.support.processes import SCALE, end, kept_on_failure, start

POSTS = 500 * SCALE


def line(process: subprocess.Popen[bytes]) -> bytes:
    assert process.stdout is not None
    return process.stdout.readline()


def go(process: subprocess.Popen[bytes]) -> None:
    assert process.stdin is not None
    process.stdin.write(b"go\n")
    process.stdin.flush()


async def make_rooms(home: Path) -> None:
    async with Hub.open(home) as hub:
        for room in ROOMS:
            await hub.conversations.create(room)


@pytest.mark.timeout(300 * SCALE)
@pytest.mark.parametrize("count", [2, 4])
async def test_processes_that_write_at_once_lose_nothing(tmp_path: Path, count: int) -> None:
    home = tmp_path / "home"
    names = [f"writer{n}" for n in range(count)]
    await make_rooms(home)
    processes = [start("tests.faults.writer", str(home), name, str(POSTS)) for name in names]
    with kept_on_failure(f"processes-{count}", home):
        try:
            assert [line(process) for process in processes] == [b"ready\n"] * count
            begun = time.monotonic()
            for process in processes:
                go(process)
            told = [json.decode(line(process)) for process in processes]
            seconds = time.monotonic() - begun
        finally:
            for process in processes:
                end(process)
        assert [answer for answer in told if "error" in answer] == []
        ops = ledger.read(*(home / f"ledger-{name}.jsonl" for name in names))
        left = await remains.gather(home)
        assert checker.found(checker.check(ops, left)) == {}
        assert ledger.acked(ops) == POSTS * count + 2 * SHARED
        assert sum(len(messages) for messages in left.messages.values()) == POSTS * count + 2 * SHARED
        assert sum(answer["first"] for answer in told) == SHARED, (
            "a shared key is stored by exactly one of them"
        )
        assert sum(answer["won"] for answer in told) == SHARED, (
            "of rival bodies under one key exactly one is kept"
        )
    print(f"{count} processes, {ledger.acked(ops)} acked in {seconds:.1f} s")
