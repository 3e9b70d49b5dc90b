"""A desk kept from the last batch holds what a fresh one would: random histories, every load done twice."""

import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from msgspec import structs

from moot.model.change import Change, JoinTurn, PutConversation, PutMember, PutParticipant, PutTurn
from moot.model.conversation import ConversationKind, Member
from moot.model.ids import ParticipantId, RootId, TurnId
from moot.model.participant import Kind, Participant
from moot.model.turn import Call, RuleName, Turn, TurnState
from moot.ports import Scope
from moot.stores import kept_desk
from moot.stores.desk import Desk, Dirty, chains_of
from moot.stores.fold import fold
from moot.stores.kept_desk import KeptDesk
from moot.stores.sqlite import load as loader
from moot.stores.sqlite.engine import SqliteEngine
from tests.contract.store.samples import TURN
from tests.contract.store.verbs import conversation, said
from tests.replay.test_invariants import History, histories, setups, times
from tests.support.history import Player, Setup

ROOM, OTHER = conversation("room"), conversation("other")
PAIR = structs.replace(conversation("pair"), kind=ConversationKind.DIRECT)
MEMBER = Participant(id=TURN.agent, name="asked", kind=Kind.AGENT)
SEAT = Member(conversation=PAIR.id, participant=TURN.agent, position=0, joined_at=1.0)
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
        assert len(desk.asks(where)) == len(fresh.asks(where))
        everyone = fresh.asks(where).all()  # of the kept desk only what it has: it goes on as it is
        assert desk.asks(where).at_hand() == [turn for turn in everyone if turn.id in desk.turns_by_id]
        assert ordered(desk.rounds_of[where]) == ordered(fresh.rounds_of[where])
    for who, participant in fresh.participants.items():
        assert desk.participants[who] == participant
        assert desk.quota(who) == fresh.quota(who)
    for part in ("refs", "names", "turns_by_id", "pairs", "messages", "keys", "hosts_by_id"):
        held = getattr(desk, part)
        for key, value in getattr(fresh, part).items():
            unloaded = part == "turns_by_id" and value.is_queued_ask and key not in held
            assert unloaded or held[key] == value, part
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
        patch.setattr(kept_desk, "MAX_ROOMS", most_rooms)
        patch.setattr(loader, "LAID_OUT", 2)
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
    monkeypatch.setattr(kept_desk, "MAX_ROOMS", 1)
    engine = SqliteEngine.open(tmp_path)
    batch(engine, PutConversation(ROOM), PutConversation(OTHER), PutTurn(RUNNING))
    runs = Scope(running_of=RUNNING.agent)
    assert batch(engine, scope=runs).running_of(RUNNING.agent) == [RUNNING]
    batch(engine, scope=Scope(conversations=(OTHER.id,)))
    assert list(batch(engine).rooms) == [OTHER.id]
    assert batch(engine, scope=runs).running_of(RUNNING.agent) == [RUNNING]
    engine.close()


def queue(waiting: int) -> list[Turn]:
    """Questions that wait for an agent, behind one that was asked and before one that was made later."""
    asked = Call(agent=TURN.agent, seq=1, reason=RuleName.ASK, root=RootId("c:1"), hop=0, depth=1, human=True)
    state = structs.replace(TURN, conversation=PAIR.id, round=0, reason=RuleName.ASK, calls=(asked,))
    waits = [
        structs.replace(state, id=TurnId(number + 1), state=TurnState.WAITING) for number in range(waiting)
    ]
    return [*waits, structs.replace(state, id=TurnId(waiting + 1), state=TurnState.READY)]


def test_of_a_long_queue_no_more_is_loaded_than_a_decision_needs(tmp_path: Path) -> None:
    ours, theirs = SqliteEngine.open(tmp_path), SqliteEngine.open(tmp_path)
    here, turns = Scope(conversations=(PAIR.id,)), queue(1000)
    batch(theirs, PutConversation(PAIR), PutParticipant(MEMBER), PutMember(SEAT), *map(PutTurn, turns))
    desk = batch(ours, scope=here)
    asks, agent = desk.asks(PAIR.id), TURN.agent
    assert (len(asks), next(asks.of(agent))) == (1000, turns[0])
    assert desk.turns(PAIR.id) == {agent: turns[-1]}
    assert len(desk.turns_by_id) < 100
    named = turns[700]
    assert batch(ours, scope=Scope(turns=(named.id,))).asks(PAIR.id).get(named.id) == named
    assert len(asks) == 1000
    ended = [structs.replace(turn, state=TurnState.CANCELLED) for turn in (*turns[:200], named)]
    assert batch(ours, *map(PutTurn, ended), scope=Scope(turns=tuple(turn.id for turn in ended))) is desk
    assert batch(ours) is desk
    assert len(asks) == 799
    assert next(asks.of(agent)) == turns[200]
    assert asks.all() == [turn for turn in turns[200:-1] if turn is not named]
    assert len(asks) == len(batch(ours, scope=here).asks(PAIR.id)) == 799
    ours.close()
    theirs.close()


def test_a_question_that_ended_in_a_batch_is_not_fetched_again_in_it(tmp_path: Path) -> None:
    ours, theirs = SqliteEngine.open(tmp_path), SqliteEngine.open(tmp_path)
    turns = queue(300)
    batch(theirs, PutConversation(PAIR), PutParticipant(MEMBER), PutMember(SEAT), *map(PutTurn, turns))
    named, new = turns[250], structs.replace(turns[0], id=TurnId(400))
    ended = structs.replace(named, state=TurnState.CANCELLED)
    ours.begin()
    desk = ours.load([Scope(turns=(named.id,))])
    fold(desk, [PutTurn(ended), PutTurn(new)], Dirty())
    asks = desk.asks(PAIR.id)
    assert len(asks) == 300
    assert asks.all() == [*[turn for turn in turns[:-1] if turn is not named], new]
    assert len(asks) == 300
    ours.rollback()
    ours.close()
    theirs.close()


def test_a_question_that_changes_while_it_waits_keeps_its_place(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    turns = queue(3)
    batch(engine, PutConversation(PAIR), PutParticipant(MEMBER), PutMember(SEAT), *map(PutTurn, turns))
    given_up = structs.replace(turns[0], calls=(structs.replace(turns[0].calls[0], awaited=5.0),))
    desk = batch(engine, JoinTurn(given_up), scope=Scope(conversations=(PAIR.id,)))
    assert desk.asks(PAIR.id).all() == [given_up, *turns[1:3]]
    engine.close()


def test_a_question_whose_turn_has_come_stands_where_a_fresh_desk_has_it(tmp_path: Path) -> None:
    engine = SqliteEngine.open(tmp_path)
    waits = structs.replace(queue(1)[0], agent=ParticipantId("b"))
    on_the_floor = structs.replace(TURN, id=TurnId(5), conversation=PAIR.id, round=0, state=TurnState.READY)
    batch(engine, PutConversation(PAIR), PutTurn(waits), PutTurn(on_the_floor))
    here = Scope(conversations=(PAIR.id,))
    desk = batch(engine, PutTurn(structs.replace(waits, state=TurnState.READY)), scope=here)
    assert [turn.id for turn in desk.turns(PAIR.id).values()] == [waits.id, on_the_floor.id]
    engine.close()
