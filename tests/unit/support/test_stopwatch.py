"""What a stopwatch counts, on a quiet machine and on a busy one; and which try of several is taken."""

from collections.abc import Iterator
from threading import Event

import pytest

from tests.support import stopwatch
from tests.support.stopwatch import Reading, Stopwatch, Usage, best


@pytest.mark.parametrize(
    ("used", "starved"),
    [
        pytest.param(Usage(waited=0.0, others_ran=2.0), 0.0, id="always had a processor"),
        pytest.param(Usage(waited=1.0, others_ran=2.0), 1.0, id="others had it for a second"),
        pytest.param(Usage(waited=1.0, others_ran=0.0), 0.0, id="only threads of its own had it"),
        pytest.param(Usage(waited=1.0, others_ran=0.5), 0.5, id="no more than others ran"),
    ],
)
def test_it_leaves_out_what_others_had_and_nothing_else(used: Usage, starved: float) -> None:
    assert used.starved == starved


def test_a_thread_that_blocks_is_counted_in_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stopwatch, "waits", lambda _: ())  # this process has other threads, which may wait
    watch = Stopwatch()
    Event().wait(0.05)
    assert watch.seconds() >= 0.05
    assert watch.is_over(0.05)
    assert not watch.is_over(60.0)


def test_of_each_that_takes_turns_the_thread_that_waited_longest_counts_and_none_that_has_ended() -> None:
    before, after = Reading(()), Reading(())
    before.waits = {(1, "one"): 5.0, (1, "two"): 1.0, (1, "ended"): 9.0}
    after.waits = {(1, "one"): 5.5, (1, "two"): 3.0, (1, "new"): 0.25, (2, "other"): 1.5}
    assert after.since(before).waited == 2.0 + 1.5


@pytest.mark.parametrize(
    ("tries", "taken", "made"),
    [
        pytest.param([(9.0, True), (1.0, True)], 9.0, 1, id="quiet: the first, though it is bad"),
        pytest.param([(9.0, False), (1.0, False), (0.5, False)], 1.0, 2, id="busy: until one is good enough"),
        pytest.param([(9.0, False), (5.0, True), (1.0, True)], 5.0, 2, id="quiet at last"),
        pytest.param([(9.0, False), (7.0, False), *[(8.0, False)] * 9], 7.0, 5, id="busy all the time"),
    ],
)
def test_a_bad_try_is_repeated_only_if_the_machine_was_busy(
    monkeypatch: pytest.MonkeyPatch, tries: list[tuple[float, bool]], taken: float, made: int
) -> None:
    left: Iterator[tuple[float, bool]] = iter(tries)
    seen: list[bool] = []

    class Watch:
        @property
        def is_quiet(self) -> bool:
            return seen[-1]

    def take() -> float:
        value, is_quiet = next(left)
        seen.append(is_quiet)
        return value

    monkeypatch.setattr(stopwatch, "Stopwatch", Watch)
    assert best(2.0, take) == taken
    assert len(seen) == made
