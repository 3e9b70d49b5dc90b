"""Twenty turns that begin at once over one budget, from two processes if there can be two; the same on every store."""

import asyncio

import pytest

from moot.flow import attach, charge, claim, create, enrol, finish, post, reserve
from moot.flow.enrol import Newcomer
from moot.flow.reserve import Reserve, Reserved
from moot.model.chain import RESERVATIONS, SPENDING, SpendingKind
from moot.model.ids import HostId, ParticipantId, RootId
from moot.model.participant import Kind
from moot.model.turn import Turn, TurnState
from moot.rules.budgets import Account, AgentBudget, account, account_of
from tests.contract.store.places import Place, WholeStore

pytestmark = pytest.mark.req("M-04")

USER, LEAD, HOST = ParticipantId("user"), ParticipantId("lead"), HostId("h1")
NAMES = [f"agent{number}" for number in range(20)]
CENT = {"cost_usd": 0.01, "input_tokens": 900, "output_tokens": 100}
FOR_THREE = {LEAD: AgentBudget(usd=0.03)}


async def begun(store: WholeStore) -> list[Turn]:
    """Twenty agents that one has started, each with a turn that is claimed."""
    people = (Newcomer("user", Kind.HUMAN), Newcomer("lead"), *map(Newcomer, NAMES))
    await store.transact(enrol, enrol.Enrol(people))
    await store.transact(attach, attach.Attach(HOST, 1, tuple(map(ParticipantId, NAMES))))
    for name in NAMES:
        await store.transact(create, create.Create(USER, f"room-{name}", (name,)))
        await store.transact(post, post.posting(USER, f"room-{name}", f"@{name} go"))
    ready = await store.turns(states=(TurnState.READY,), limit=100)
    claimed = [await store.transact(claim, claim.Claim(turn.id, HOST)) for turn in ready]
    return [one.turn for one in claimed if one.turn is not None]


def account_in(place: Place, turn: Turn) -> Account:
    return account_of(turn, place.clock.now(), (LEAD,))


def reserving(place: Place, turn: Turn) -> Reserve:
    return Reserve(turn.id, turn.fence, account_in(place, turn), above=FOR_THREE)


async def test_a_budget_for_three_lets_three_of_twenty_begin_whoever_claims_them(place: Place) -> None:
    first = await place.open()
    second = await place.open() if place.shared else first
    somebody = account(ParticipantId("other"), RootId("c0:1"), place.clock.now())
    await first.transact(charge, charge.Charge(somebody, CENT))
    turns = await begun(first)
    assert len(turns) == 20
    answers: list[Reserved] = []
    for one, other in zip(
        turns[::2], turns[1::2], strict=True
    ):  # by two processes at the same moment, each time
        both = (
            first.transact(reserve, reserving(place, one)),
            second.transact(reserve, reserving(place, other)),
        )
        answers += await asyncio.gather(*both)
    assert [sum(one.may_begin for one in answers), sum(one.waits for one in answers)] == [3, 17]
    held = await first.records(RESERVATIONS.all())
    running = [turn for turn, answer in zip(turns, answers, strict=True) if answer.may_begin]
    assert {one.turn for one in held} == {turn.id for turn in running}
    for turn in running:
        said = finish.Said("done", usage=CENT)
        await second.transact(
            finish, finish.Finish(turn.id, turn.fence, said, account=account_in(place, turn))
        )
    assert await first.records(RESERVATIONS.all()) == []
    waiting = [turn for turn in turns if turn not in running]
    late: list[Reserved] = await asyncio.gather(
        *(first.transact(reserve, reserving(place, turn)) for turn in waiting)
    )
    assert not [one for one in late if one.may_begin or one.waits], "the money is spent"
    [row] = [
        one for one in await first.records(SPENDING.where(subject=LEAD)) if one.kind is SpendingKind.STARTED
    ]
    assert (row.turns, round(row.cost_usd, 6)) == (3, 0.03)
    states = {turn.state for turn in await first.turns(states=tuple(TurnState), limit=100)}
    assert states == {TurnState.SAID, TurnState.FAILED}
