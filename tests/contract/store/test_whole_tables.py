"""Decisions that see all of a table before they add to it: nobody adds to it meanwhile, from whatever process."""

import asyncio
from typing import Any

from moot.errors import WouldDeadlock
from moot.flow import enrol, post, send
from moot.flow.enrol import Newcomer
from moot.flow.send import Send
from moot.model.ids import HostId, ParticipantId
from moot.model.records.wait import WAITS
from tests.contract.store.places import Place, WholeStore

ROUNDS = 10
HOST = HostId("h")


def message(author: str, target: str, **fields: Any) -> Send:
    words = post.Post(ParticipantId(author), "", "what is it?", **fields)
    return send.sending(target, ParticipantId(target), words)


async def test_questions_that_close_a_ring_together_are_not_both_taken(place: Place) -> None:
    """Ann waits for Bob and Cat for Dan. Bob asks Cat and Dan asks Ann at the same moment, from two processes: neither
    has anything in common with the other but that both would close the ring."""
    first = await place.open()
    second = await place.open() if place.shared else first

    async def ask(store: WholeStore, asker: str, target: str) -> None:
        until = place.clock.now() + 600
        await store.transact(send, message(asker, target, intent=post.ASK, awaited=until, waits_in=HOST))

    for n in range(ROUNDS):
        ann, bob, cat, dan = (f"{name}-{n}" for name in ("ann", "bob", "cat", "dan"))
        await first.transact(enrol, enrol.Enrol(tuple(map(Newcomer, (ann, bob, cat, dan)))))
        for author, target in ((ann, bob), (bob, cat), (cat, dan), (dan, ann)):
            await first.transact(send, message(author, target))
        await ask(first, ann, bob)
        await ask(first, cat, dan)
        answers = await asyncio.gather(ask(first, bob, cat), ask(second, dan, ann), return_exceptions=True)
        assert sorted(map(str, map(type, answers))) == sorted(map(str, (type(None), WouldDeadlock))), (
            f"in round {n}"
        )
        here = [wait for wait in await first.records(WAITS.all()) if wait.asker in (ann, bob, cat, dan)]
        assert len(here) == 3
