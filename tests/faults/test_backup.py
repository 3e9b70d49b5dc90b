"""T-BAK: backups taken while eight processes write; each restores to a gap-free prefix with all that was acked."""

import asyncio
import shutil
from functools import partial
from operator import le
from pathlib import Path

import pytest
from msgspec import json

from moot.hub.archive import backups
from moot.settings import Home
from tests.faults.test_processes import go, line, make_rooms
from tests.support import checker, ledger, remains
from tests.support.ledger import OK, Op, now
from tests.support.processes import SCALE, end, kept_on_failure, start
from tests.support.waiting import until

WRITERS = 8
POSTS = 250 * SCALE
BACKUPS = 4


class Taken:
    """A backup, and the moment it was asked for."""

    def __init__(self, began: float, made: backups.NewBackup) -> None:
        self.began = began
        self.made = made


def acked(books: list[Path]) -> int:
    return ledger.acked(ledger.read(*books))


async def take_some(home: Path, books: list[Path]) -> list[Taken]:
    """Spread over the run: each after more was acknowledged."""
    taken: list[Taken] = []
    for number in range(BACKUPS):
        wanted = (number + 1) * WRITERS * POSTS // (BACKUPS + 2)
        await until(lambda: asyncio.to_thread(acked, books), partial(le, wanted), seconds=200 * SCALE)
        taken.append(Taken(now(), await asyncio.to_thread(backups.create, Home(home))))
    return taken


async def assert_prefix(taken: Taken, ops: list[Op], whole: remains.Remains, elsewhere: Path) -> int:
    (elsewhere / "backups").mkdir(parents=True)
    shutil.copy(taken.made.path, elsewhere / "backups")
    copied = elsewhere / "backups" / taken.made.path.name
    done = await asyncio.to_thread(backups.restore, Home(elsewhere), copied)
    left = await remains.gather(elsewhere)
    assert left.verdicts == ("ok",)
    before = [op for op in ops if op.op == "post" and op.type == OK and op.t_return < taken.began]
    assert list(checker.lost(before, left)) == []
    for where, messages in left.messages.items():
        assert [m.seq for m in messages] == list(range(1, len(messages) + 1))
        assert messages == whole.messages[where][: len(messages)]
    count = sum(len(messages) for messages in left.messages.values())
    assert count == taken.made.messages == done.messages
    return len(before)


@pytest.mark.req("P-07")
@pytest.mark.timeout(300 * SCALE)
async def test_a_backup_under_load_restores_to_a_prefix_with_all_that_was_acknowledged(
    tmp_path: Path,
) -> None:
    home = tmp_path / "home"
    names = [f"writer{n}" for n in range(WRITERS)]
    books = [home / f"ledger-{name}.jsonl" for name in names]
    await make_rooms(home)
    processes = [start("tests.faults.writer", str(home), name, str(POSTS), "wait") for name in names]
    with kept_on_failure("backup", home):
        try:
            assert [line(process) for process in processes] == [b"ready\n"] * WRITERS
            for process in processes:
                go(process)
            taken = await take_some(home, books)
            for process in processes:
                go(process)
            told = [json.decode(await asyncio.to_thread(line, process)) for process in processes]
        finally:
            for process in processes:
                end(process)
        assert [answer for answer in told if "error" in answer] == []
        ops, whole = ledger.read(*books), await remains.gather(home)
        counts = [
            await assert_prefix(one, ops, whole, tmp_path / f"elsewhere-{number}")
            for number, one in enumerate(taken)
        ]
    assert counts == sorted(counts)
    assert counts[0] > 0
    assert taken[-1].made.messages < sum(len(messages) for messages in whole.messages.values())
    print(f"acked before each backup: {counts}, of {ledger.acked(ops)}")
