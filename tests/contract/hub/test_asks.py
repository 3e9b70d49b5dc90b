"""Questions, the same whichever way the hub is reached: each gets its own answer, in order, or is told why not."""

import asyncio
import os
from typing import Any

import pytest

from moot.errors import TurnFailed

TOGETHER = 10_000 if os.environ.get("MOOT_TIER") == "nightly" else 300

pytestmark = pytest.mark.req("K-13")


@pytest.mark.timeout(600)
async def test_questions_asked_together_get_each_its_own_answer(hub: Any) -> None:
    asking = (hub.ask("arya", f"what is {number}?", timeout=500) for number in range(TOGETHER))
    answers = await asyncio.gather(*asking)
    assert [answer.text for answer in answers] == [f"arya heard what is {n}?" for n in range(TOGETHER)]
    assert len({answer.id for answer in answers}) == TOGETHER
    for answer in answers[:5]:
        question = await hub.message(answer.reply_to)
        assert answer.text == f"arya heard {question.text}"
        assert answer.metadata["correlation_id"] == question.metadata["correlation_id"]


async def test_a_question_to_a_paused_agent_is_refused_at_once(hub: Any) -> None:
    await hub.agents.pause("arya")
    with pytest.raises(TurnFailed, match="is paused") as refused:
        await hub.ask("arya", "you there?", timeout=500)
    assert refused.value.facts["rule"] == "paused"
    await hub.agents.resume("arya")
    assert (await hub.ask("arya", "and now?", timeout=40)).text == "arya heard and now?"


async def test_a_question_that_fails_fails_alone(hub: Any) -> None:
    failing = asyncio.gather(
        *(hub.ask("broken", str(number), timeout=40) for number in range(3)), return_exceptions=True
    )
    assert [type(outcome) for outcome in await failing] == [TurnFailed] * 3
    turns = await hub.turns(agent="broken")
    assert [(turn.state, turn.hi - turn.lo > 0) for turn in turns] == [("failed", True)] * 3


async def test_more_calls_at_once_than_a_line_holds_are_answered(hub: Any) -> None:
    await hub.conversations.create("room", participants=["quiet"])
    receipts = await asyncio.gather(*(hub.post("room", f"{number} {'x' * 4000}") for number in range(600)))
    assert sorted(receipt.seq for receipt in receipts) == list(range(1, 601))
