"""Random histories never break the floor: the nine invariants of FLOOR part 8, on rules and stores.

The fast tier plays hundreds of histories of some forty acts on the pure rules and fewer on the stores, whose
state is saved and loaded again on the way. `MOOT_TIER=nightly` plays ten times as many, different each night.
"""

import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path

import pytest
from hypothesis import given, note, settings
from hypothesis import strategies as st

from moot.model.conversation import GroupSettings, ReplyStrategy, TurnOrder
from moot.model.limits import Limits
from tests.support import invariants
from tests.support.history import DECK, Player, Setup

pytestmark = [pytest.mark.req("G-06", "G-09", "A-12"), pytest.mark.timeout(1800)]

HAS_SQLITE = find_spec("moot.stores.sqlite") is not None and find_spec("moot.stores.sqlite.store") is not None
STORES = [
    "memory",
    pytest.param("sqlite", marks=pytest.mark.skipif(not HAS_SQLITE, reason="no SQLite store yet")),
]

History = list[tuple[str, int, int]]

group_settings = st.builds(
    GroupSettings,
    reply_strategy=st.sampled_from([ReplyStrategy.HYBRID, *ReplyStrategy]),
    turn_order=st.sampled_from([TurnOrder.SEQUENTIAL, *TurnOrder]),
    max_agent_turns_per_message=st.integers(1, 5),
    max_depth=st.integers(1, 3),
    reactive_round=st.sampled_from([True, True, False]),
    cooldown_seconds=st.sampled_from([0.0, 0.0, 2.0, 60.0]),
    max_voluntary_responders=st.integers(1, 3),
    max_voluntary_polls=st.sampled_from([2, 8]),
    agents_may_invite=st.booleans(),
)
limits = st.builds(
    Limits,
    chain_turns=st.sampled_from([3, 16, 16]),
    chain_depth=st.sampled_from([2, 8, 8]),
    agent_turns_per_hour=st.sampled_from([3, 120, 120, 120]),
    agent_roots_per_hour=st.sampled_from([2, 60]),
    pair_per_minute=st.sampled_from([2, 10]),
)
setups = st.builds(
    Setup,
    agents=st.integers(1, 7),
    shape=st.sampled_from(["group", "group", "bridged", "mixed", "pairs", "ephemeral"]),
    groups=group_settings,
    limits=limits,
    away=st.sampled_from([0, 0, 0, 1, 2, 5]),
    external=st.sampled_from([0, 0, 0, 1, 4]),
)
histories = st.lists(
    st.tuples(st.sampled_from(DECK), st.integers(0, 1023), st.integers(0, 255)), min_size=25, max_size=60
)


def times(share: float) -> int:
    """So many histories; the profile says how much a hundred is."""
    return int(settings().max_examples * share)


def complain(complaints: Iterable[str]) -> None:
    found = list(complaints)
    assert not found, "; ".join(found)


def check(player: Player, checkers: Iterable[invariants.Checker]) -> None:
    picture = player.picture()
    for checker in checkers:
        complain(checker(picture, player.deeds))
    complain(invariants.planning_again_moves_nothing(player))


@contextmanager
def playing(setup: Setup, backend: str) -> Iterator[Player]:
    """A player in a fresh world; when something goes wrong, its story is told."""
    with tempfile.TemporaryDirectory() as folder:
        player = Player(setup, backend, Path(folder))
        player.begin()
        try:
            yield player
        except Exception:
            note("\n".join([str(player.setup), *player.log]))
            raise
        finally:
            player.close()


def act_out(player: Player, history: History) -> None:
    for act in history:
        player.act(*act)
        check(player, invariants.ALWAYS)
    player.log.append("then present agents finish and time passes")
    player.settle(talk=len(history) % 4)
    check(player, (*invariants.ALWAYS, *invariants.AT_REST))
    complain(invariants.sweeping_again_moves_nothing(player))
    player.log.append("then everybody returns")
    player.everybody_returns()
    player.settle(talk=0)
    check(player, (*invariants.ALWAYS, *invariants.WHEN_ALL_ARE_BACK))
    complain(invariants.the_audit_chain_holds(player))


@settings(max_examples=times(8.0))
@given(setup=setups, history=histories)
def test_no_history_breaks_the_floor(setup: Setup, history: History) -> None:
    with playing(setup, "rules") as player:
        act_out(player, history)


@pytest.mark.parametrize("backend", STORES)
@settings(max_examples=times(0.4))
@given(setup=setups, history=histories)
def test_no_history_breaks_the_floor_in_a_store_that_is_saved_and_loaded(
    backend: str, setup: Setup, history: History
) -> None:
    with playing(setup, backend) as player:
        act_out(player, history)


@pytest.mark.parametrize("backend", STORES)
@settings(max_examples=times(0.6))
@given(setup=setups, history=histories)
def test_what_a_store_loads_again_is_what_the_fold_made(backend: str, setup: Setup, history: History) -> None:
    """Rules alone never forget anything; a store that loaded too little would decide otherwise."""
    with playing(setup, "rules") as rules, playing(setup, backend) as store:
        for act in history:
            rules.act(*act)
            store.act(*act)
            assert store.log == rules.log
            assert store.picture() == rules.picture()
            assert store.ledger() == rules.ledger()
