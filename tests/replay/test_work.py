"""Random histories of links, tasks and questions: every task comes home once, nobody waits in a ring, and nothing that
no link carries gets a turn. On pure rules and on the stores, which are loaded again on the way."""

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from tests.support.work_history import DECK, WorkPlayer, at_rest, complaints

pytestmark = [pytest.mark.req("M-05", "S-05", "S-10"), pytest.mark.timeout(600)]
History = list[tuple[str, int, int]]
histories = st.lists(
    st.tuples(st.sampled_from(DECK), st.integers(0, 255), st.integers(0, 127)), min_size=20, max_size=50
)
policies = st.sampled_from(["auto", "auto", "links", "open"])


def times(share: float) -> int:
    """So many histories; the profile says how much a hundred is."""
    return int(settings().max_examples * share)


@contextmanager
def playing(policy: str, backend: str) -> Iterator[WorkPlayer]:
    with tempfile.TemporaryDirectory() as folder:
        player = WorkPlayer(policy, backend, Path(folder))
        player.begin()
        try:
            yield player
        except Exception:
            note("\n".join([policy, *player.log]))
            raise
        finally:
            player.close()


def act_out(player: WorkPlayer, history: History) -> None:
    for act in history:
        player.act(*act)
        assert list(complaints(player)) == []
    player.log.append("then everybody is back, and time passes")
    player.settle()
    assert [*complaints(player), *at_rest(player)] == []


@settings(max_examples=times(1.0))
@given(policy=policies, history=histories)
def test_no_history_loses_a_task_or_lets_through_what_no_link_carries(policy: str, history: History) -> None:
    with playing(policy, "rules") as player:
        act_out(player, history)


@pytest.mark.parametrize("backend", ["memory", "sqlite"])
@settings(max_examples=times(0.1))
@given(policy=policies, history=histories)
def test_no_history_does_so_in_a_store_that_is_loaded_again(
    backend: str, policy: str, history: History
) -> None:
    with playing(policy, backend) as player:
        act_out(player, history)
