"""The writers' queue: one at a time, in turn, and nobody waits for ever."""

import os
import threading
from pathlib import Path

import pytest

from moot.errors import StoreUnwritable
from moot.stores.sqlite.file.lock import WriterLock
from tests.support.waiting import PATIENCE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "writer.lock"


def test_a_second_writer_waits_until_the_first_is_done(path: Path) -> None:
    first, second = WriterLock(path), WriterLock(path)
    order: list[str] = []
    first.take()

    def follow() -> None:
        second.take()
        order.append("second")
        second.give()

    waiting = threading.Thread(target=follow)
    waiting.start()
    order.append("first")
    first.give()
    waiting.join(PATIENCE)
    assert order == ["first", "second"]


def test_a_lock_that_is_never_given_back_is_not_waited_for_for_ever(path: Path) -> None:
    stuck, waiting = WriterLock(path), WriterLock(path, patience=0.05)
    stuck.take()
    with pytest.raises(StoreUnwritable, match="has held") as refusal:
        waiting.take()
    assert refusal.value.retry_after_ms
    stuck.give()
    waiting.take()
    waiting.give()


def test_whoever_gave_up_does_not_keep_the_lock_it_gets_too_late(path: Path) -> None:
    stuck, gave_up, third = (
        WriterLock(path),
        WriterLock(path, patience=0.05),
        WriterLock(path, patience=PATIENCE),
    )
    stuck.take()
    with pytest.raises(StoreUnwritable):
        gave_up.take()
    stuck.give()
    third.take()
    third.give()


def test_many_writers_never_hold_it_together(path: Path) -> None:
    holders = 0
    most = 0
    guard = threading.Lock()

    def write() -> None:
        nonlocal holders, most
        lock = WriterLock(path)
        for _ in range(50):
            lock.take()
            with guard:
                holders += 1
                most = max(most, holders)
            with guard:
                holders -= 1
            lock.give()
        lock.close()

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(PATIENCE)
    assert most == 1
    assert holders == 0


def test_one_waits_as_long_as_others_get_on(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Hundreds of processes at once: each takes its turn, and none of them is stuck."""
    stuck, waiting = WriterLock(path), WriterLock(path, patience=0.001)
    looks: list[int] = []

    def moves_a_while() -> int:
        looks.append(min(len(looks), 40))
        return looks[-1]

    monkeypatch.setattr(waiting, "_last_taken", moves_a_while)
    stuck.take()
    with pytest.raises(StoreUnwritable):
        waiting.take()
    assert len(looks) > 40, "not before the queue stands still"


def test_who_takes_it_shows_that_the_queue_moves(path: Path) -> None:
    lock, waiting = WriterLock(path), WriterLock(path)
    os.utime(path, ns=(0, 0))
    lock.take()
    assert waiting._last_taken() > 0
    lock.give()
