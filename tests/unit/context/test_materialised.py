"""A view grown from records is the same whatever became of the records (K-07)."""

import asyncio
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from moot.context.replica import Materialised
from moot.model.ids import ConversationId, ParticipantId, RootId
from moot.model.message import Message
from moot.model.participant import Kind


def said(seq: int) -> Message:
    return Message(
        ConversationId("c"), seq, ParticipantId("a"), Kind.AGENT, f"text {seq}", RootId("c:1"), 0, 0.0
    )


@pytest.mark.req("K-07")
@given(many=st.integers(1, 30), seed=st.integers(0, 10_000), lost=st.floats(0, 0.9))
def test_lost_doubled_and_disordered_records_change_nothing(many: int, seed: int, lost: float) -> None:
    stored = [said(seq) for seq in range(1, many + 1)]
    chance = Random(seed)

    async def pull(after: int, upto: int) -> list[Message]:
        return stored[after:upto]

    async def grow() -> list[Message]:
        view = Materialised(pull)
        records = [("posted", seq) for seq in range(1, many + 1)] * 2
        chance.shuffle(records)
        records = [record for record in records if chance.random() > lost]
        for seq in (1, many):
            stored[seq - 1] = structs.replace(stored[seq - 1], text="edited", version=2)
            records.append(("changed", seq))
        for kind, seq in [*records, ("posted", many)]:
            await (view.posted(seq) if kind == "posted" else view.changed(seq))
        return view.between(0, view.head)

    assert asyncio.run(grow()) == stored
