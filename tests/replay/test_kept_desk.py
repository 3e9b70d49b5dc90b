"""A desk kept from the last batch holds what a fresh one would: random histories, every load done twice."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec import structs

from moot.model.change import Change, PutConversation, PutTurn
from moot.model.turn import TurnState
from moot.ports import Scope
from moot.stores.desk import Desk, Dirty, chains_of
from moot.stores.fold import fold
from moot.stores.sqlite import kept
from moot.stores.sqlite.engine import SqliteEngine
from moot.stores.sqlite.kept import KeptDesk
from tests.contract.store.samples import TURN
from tests.contract.store.verbs import conversation, said
from tests.replay.test_invariants import History, histories, setups, times
from tests.support.history import Player, Setup

ROOM, OTHER = conversation("room"), conversation("other")
NOTHING = Scope()
load = SqliteEngine.load
RUNNING = structs.replace(TURN, conversation=ROOM.id, round=0)


def load_twice(engine: SqliteEngine, scopes: Sequence[Scope]) -> Desk:
    desk, fresh = load(engine, scopes), engine._loading.fresh()
    engine._loading.fill(fresh, scopes)
    assert isinstance(desk, KeptDesk)
    assert_same(desk, fresh, scopes)
    return desk


def ordered(found: dict[Any, Any]) -> list[tuple[Any, Any]]:
    return list(found.items())


def assert_same(desk: KeptDesk, fresh: KeptDesk, scopes: Sequence[Scope]) -> None:
    assert (desk.next_turn, desk.next_event) == (fresh.next_turn, fresh.next_event)
    for where, found in fresh.conversations.items():
        assert desk.conversations[where] == found
        assert ordered(desk.members_of[where]) == ordered(fresh.members_of[where])
        assert ordered(desk.roster(where).agents) == ordered(fresh.roster(where).agents)
        assert ordered(desk.turns_of[where]) == ordered(fresh.turns_of[where])
        assert ordered(desk.rounds_of[where]) == ordered(fresh.rounds_of[where])
    for who, participant in fresh.participants.items():
        assert desk.participants[who] == participant
        assert desk.quota(who) == fresh.quota(who)
    for part in ("refs", "names", "turns_by_id", "pairs", "messages", "keys", "hosts_by_id"):
        held = getattr(desk, part)
        for key, value in getattr(fresh, part).items():
            assert held[key] == value, part
    for scope in scopes:
        assert [desk.find(ref) for ref in scope.refs] == [fresh.find(ref) for ref in scope.refs]
        assert [desk.named(name) for name in scope.names] == [fresh.named(name) for name in scope.names]
        assert [desk.turn(turn) for turn in scope.turns] == [fresh.turn(turn) for turn in scope.turns]
        if scope.running_of is not None:
            runs = [
                sorted(one.running_of(scope.running_of), key=lambda turn: turn.id) for one in (desk, fresh)
            ]
            assert runs[0] == runs[1]
        if scope.key is not None:
            assert desk.replay(*scope.key) == fresh.replay(*scope.key)
    for root in chains_of(fresh):
        assert desk.root(root) == fresh.root(root)


@pytest.mark.parametrize("most_rooms", [1, 1024])
@settings(max_examples=times(0.4))
@given(setup=setups, history=histories)
@pytest.mark.timeout(900)
def test_a_kept_desk_holds_what_a_fresh_one_would(most_rooms: int, setup: Setup, history: History) -> None:
    with pytest.MonkeyPatch.context() as patch, tempfile.TemporaryDirectory() as folder:
        patch.setattr(SqliteEngine, "load", load_twice)
        patch.setattr(kept, "MOST_ROOMS", most_rooms)
        player = Player(setup, "sqlite", Path(folder))
        player.begin()
        try:
            for act in history:
                player.act(*act)
            player.settle(talk=2)
        finally:
            player.close()


def batch(engine: SqliteEngine, *changes: Change, scope: Scope = NOTHING) -> KeptDesk:
    engine.begin()
    desk, dirty = engine.load([scope]), Dirty()
    assert isinstance(desk, KeptDesk)
    fold(desk, changes, dirty)
    engine.write(dirty)
    engine.commit()
    return desk


def test_a_desk_is_kept_until_somebody_else_writes(tmp_path: Path) -> None:
    ours, theirs = SqliteEngine.open(tmp_path), SqliteEngine.open(tmp_path)
    first = batch(ours)
    assert batch(ours, PutConversation(ROOM)) is first
    assert batch(ours) is first
    batch(theirs, PutConversation(ROOM))
    second = batch(ours)
    assert second is not first
    ours.begin()
    assert ours.load([]) is second
    ours.rollback()
    assert batch(ours) is not second
    ours.close()
    theirs.close()


def test_a_kept_desk_does_not_grow_with_what_was_said_and_done(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    here = Scope(conversations=(ROOM.id,))
    batch(engine, PutConversation(ROOM))
    desk = batch(engine, *said(ROOM, "hello", key="k"), PutTurn(RUNNING), scope=here)
    assert batch(engine) is desk
    assert (desk.messages, desk.keys) == ({}, {})
    assert list(desk.turns_by_id) == [RUNNING.id]
    batch(engine, PutTurn(structs.replace(RUNNING, state=TurnState.SAID)), scope=here)
    assert batch(engine, scope=Scope(turns=(RUNNING.id,))) is desk
    assert batch(engine) is desk
    assert desk.turns_by_id == {}
    engine.close()


def test_running_turns_in_a_room_that_was_cleared_are_found_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept, "MOST_ROOMS", 1)
    engine = SqliteEngine.open(tmp_path)
    batch(engine, PutConversation(ROOM), PutConversation(OTHER), PutTurn(RUNNING))
    runs = Scope(running_of=RUNNING.agent)
    assert batch(engine, scope=runs).running_of(RUNNING.agent) == [RUNNING]
    batch(engine, scope=Scope(conversations=(OTHER.id,)))
    assert list(batch(engine).rooms) == [OTHER.id]
    assert batch(engine, scope=runs).running_of(RUNNING.agent) == [RUNNING]
    engine.close()
